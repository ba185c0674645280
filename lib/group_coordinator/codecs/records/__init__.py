"""Records as JSON: keys and values as Kafka's own converters print those of __consumer_offsets, and our own records.

Each module has a record with a Struct for both directions. log_entry.py chooses the module.
"""
