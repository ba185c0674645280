"""The orders that Kafka leaves to its hash tables, where they decide something."""
