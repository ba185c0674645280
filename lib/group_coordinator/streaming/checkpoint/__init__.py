"""What this program keeps in a checkpoint beside Spark's own files, and who may use it."""
