"""How the gateway says that it does not run."""

from __future__ import annotations


class GatewayStartError(Exception):
    """A user can mend what keeps the gateway from its work; the message is one plain sentence that says what."""
