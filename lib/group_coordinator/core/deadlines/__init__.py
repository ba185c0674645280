"""Deadlines of groups: their times, their effects, and outages."""
