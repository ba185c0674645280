"""Proxy between Kafka's own clients, the brokers and the job, without Spark.

The job handles the group APIs, the brokers all other APIs. `api_versions.py` and `request_router.py` have the route of each API; `frames.py` parses the
frames of all connections.
"""

from __future__ import annotations


class GatewayStartError(Exception):
    """Start-up error that a user can fix; the message is a plain sentence with the reason."""
