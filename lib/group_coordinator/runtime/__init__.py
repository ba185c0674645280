"""The core in operation: handling of events, outputs and group states, without Spark."""
