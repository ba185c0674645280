"""Conversion between bytes or JSON and core's values. The conventions of Kafka's wire protocol are resolved here."""
