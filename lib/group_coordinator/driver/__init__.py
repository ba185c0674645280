"""The life of a run, from its settings to its exit (`coordinator.py`, `mirror/`), with the background tasks next to the queries.

Its start-up errors know no command line.
"""
