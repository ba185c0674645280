"""A member of a group, in both protocols."""
