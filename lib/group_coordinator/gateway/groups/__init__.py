"""Group APIs: requests to the job, and the lists of groups."""
