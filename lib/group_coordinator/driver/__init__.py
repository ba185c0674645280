"""The life of a run, from its settings to its end, and the background tasks next to the queries."""
