"""Our own files in a checkpoint, next to Spark's, and the ownership of a checkpoint."""
