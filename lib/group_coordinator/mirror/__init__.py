"""The mirror of a live cluster's __consumer_offsets: messages become rows of the tables, each appended exactly once.

Here are the decoder of whole Arrow batches (`arrow_decoder.py`), the query and its sinks, and the reasons of tombstones
(`batch_reasons.py`; the rules are in `inference.py`). `admin_source.py` and `observed_records.py` poll the brokers instead.
"""
