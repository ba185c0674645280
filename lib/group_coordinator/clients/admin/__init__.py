"""Clients for administrators of groups."""
