"""Kafka's group coordinator as a pure state machine: no clock, no ids, no I/O, no logging."""
