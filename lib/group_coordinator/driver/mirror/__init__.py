"""A mirror's run, from its settings to its end."""
