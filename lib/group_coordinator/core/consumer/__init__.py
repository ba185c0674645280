"""Consumer groups: the new protocol (KIP-848)."""
