"""Thinning of history: the rows of the log that stay."""
