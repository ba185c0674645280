"""A live cluster's __consumer_offsets into the same tables: read, decoded as whole Arrow batches, appended exactly once."""
