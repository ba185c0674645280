"""The Delta tables: their definitions, writers, compaction, maintenance and views."""
