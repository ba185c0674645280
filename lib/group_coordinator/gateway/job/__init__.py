"""Channel to the job: events out, responses in, and the timeouts of requests; the replica that answers before the job."""
