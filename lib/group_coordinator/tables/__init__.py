"""The Delta tables: a file for each definition, creation, appends, maintenance, and thinning of the log."""
