"""Compaction: new rows of the log applied to the state tables."""
