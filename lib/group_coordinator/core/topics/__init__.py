"""Topic metadata in groups: hashes, subscriptions, and regular expressions."""
