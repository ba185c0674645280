"""Consumer groups (KIP-848): heartbeats, subscriptions, target assignments and reconciliation."""
