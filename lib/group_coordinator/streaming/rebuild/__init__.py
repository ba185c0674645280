"""A checkpoint made anew from the log."""
