"""The codec of Kafka's binary messages: a notation for their layouts, and a compiler from the notation to Python.

The definition of a message names its fields and their versions (`notation.py`). The layout of one version has no versions any
more (`layouts.py`). The source of a decoder and of an encoder is written from a layout, one function a struct
(`decoder_source.py`, `encoder_source.py`), and compiled at first use (`programs.py`, `source.py`). `faults.py` says which field
of which element a failure was about. Two rooms define messages: `codecs/wire` those of connections, `codecs/offsets_topic` those
of __consumer_offsets. `rules.py` has what is different between the two.
"""
