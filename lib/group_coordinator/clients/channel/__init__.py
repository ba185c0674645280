"""Requests and replies over the two topics."""
