"""Stories of offsets: committed, fetched, deleted, expired."""
