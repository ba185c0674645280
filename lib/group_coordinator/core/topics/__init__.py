"""Topic metadata in groups: hashes, topic subscriptions, and patterns."""
