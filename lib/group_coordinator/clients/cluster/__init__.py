"""Kafka cluster: connections, topics, and the job's own events."""
