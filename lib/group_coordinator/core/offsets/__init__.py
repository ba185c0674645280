"""Offsets: committed, pending, expiring."""
