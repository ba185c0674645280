"""Records as JSON: those of Kafka's __consumer_offsets, keys and values as Kafka's own converters print them; and ours.

One file a record, with one Struct a shape for both directions; log_entry.py is the way in and out.
"""
