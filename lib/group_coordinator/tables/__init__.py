"""The Delta tables: one file a table, and what keeps them current."""
