"""The job's logs, metrics port and HTTP server."""
