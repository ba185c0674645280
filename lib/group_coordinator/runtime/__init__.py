"""The core at work: what every host of the state machine needs, without Spark."""
