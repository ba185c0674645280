"""Kafka's client properties, in a file of `--command-config`: for kafka-python's clients, and for Spark's."""
