"""The Kafka cluster below: connections, topics, events that the job writes itself."""
