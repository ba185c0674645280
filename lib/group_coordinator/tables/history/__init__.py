"""Thinning of history: few ordinary rows of the log stay, and all others."""
