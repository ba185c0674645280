"""Resets of committed offsets: where to, and what that means for each partition."""
