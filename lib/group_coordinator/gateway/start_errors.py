"""Start-up error of the gateway."""

from __future__ import annotations


class GatewayStartError(Exception):
    """Start-up error that a user can fix; the message is a plain sentence with the reason."""
