"""The life of a run, from its settings to its exit, with the background tasks next to the queries, without a command line."""
