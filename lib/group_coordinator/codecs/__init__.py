"""Bytes and JSON on one side, core's values on the other; Kafka's conventions of the wire end here."""
