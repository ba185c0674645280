"""The codec of Kafka's binary messages: a notation for their layouts, and a compiler from the notation to Python.

The definition of a message names its fields and their versions (`notation.py`). The layout of one version has no versions any
more (`layouts.py`). The source of a decoder and of an encoder is written from a layout, one function a struct
(`decoder_source.py`, `encoder_source.py`), and compiled at first use (`programs.py`, `source.py`). `faults.py` finds the field and
the reason of a failure. Two packages define messages: `codecs/wire` requests and responses, `codecs/offsets_topic` the records
of __consumer_offsets. `rules.py` has the differences between the two.
"""
