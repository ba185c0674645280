"""Deadlines of groups: the next deadline, the effect of a fired timer in each kind of group, and outages."""
