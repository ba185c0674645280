"""The Kafka cluster: connections, topics, and events that the job itself writes."""
