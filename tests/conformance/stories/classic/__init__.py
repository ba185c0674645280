"""Stories of classic groups."""
