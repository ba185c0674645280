"""Rebuild of a checkpoint from a snapshot and the log."""
