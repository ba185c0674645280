"""Stories of groups on their way to and from the consumer protocol."""
