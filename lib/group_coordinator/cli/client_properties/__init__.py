"""Client properties of Kafka from the file of `--command-config`, for the clients of kafka-python and of Spark."""
