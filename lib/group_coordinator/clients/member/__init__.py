"""Group members of the classic and of the consumer protocol."""
