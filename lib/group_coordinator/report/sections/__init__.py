"""Sections of the page, a file for each."""
