"""Proxy between Kafka's own clients, the brokers and the job, without Spark.

The job handles the group APIs, the brokers all other APIs. `api_versions.py` and `request_router.py` have the route of each API; `frames.py` parses the
frames of all connections.
"""
