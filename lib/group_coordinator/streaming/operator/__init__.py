"""The stateful operator: one call of the core for each group of a batch."""
