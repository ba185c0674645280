"""The life of a run: from its settings to its end, and what runs beside the queries."""
