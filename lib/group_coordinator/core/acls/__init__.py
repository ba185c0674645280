"""Kafka's ACLs, the authorizer that applies them, and the operations that requests need."""
