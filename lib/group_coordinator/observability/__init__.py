"""The job's logs, progress, metrics port and HTTP server."""
