"""The mirror of a live cluster's __consumer_offsets: messages become rows of the tables, each appended exactly once."""
