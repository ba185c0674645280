"""From the log to the tables of now."""
