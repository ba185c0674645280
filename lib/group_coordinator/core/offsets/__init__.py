"""Offsets: commits, pending offsets of transactions, commits that come too late, and expiration (KIP-211)."""
