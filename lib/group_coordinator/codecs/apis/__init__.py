"""One API one file: its bodies, what they mean in each version, and how its responses are written."""
