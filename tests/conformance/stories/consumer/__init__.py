"""Stories of consumer groups (KIP-848) and of groups on their way to and from them."""
