"""Sections of the page, each in a file."""
