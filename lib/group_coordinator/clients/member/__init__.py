"""A member of a group, in the classic and in the consumer protocol."""
