"""Kafka's group coordinator as a pure state machine: no clock, no id generation, no I/O, no logging."""
