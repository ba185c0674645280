"""Stories of consumer groups (KIP-848)."""
