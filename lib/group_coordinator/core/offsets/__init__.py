"""Offsets: commits, pending offsets of transactions, and expiration."""
