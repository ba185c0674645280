"""The way to the job: events out, responses in, and how long a question waits."""
