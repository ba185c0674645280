"""Channel to the job: events out, responses in, and the timeouts of requests."""
