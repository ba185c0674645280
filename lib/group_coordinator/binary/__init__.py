"""The codec of Kafka's binary messages: a notation for their layouts, and a compiler from the notation to Python.

A definition has the fields of a message and their versions (`notation.py`), a layout those of a version (`layouts.py`). The source
of a decoder or an encoder has a function for each struct (`decoder_source.py`, `encoder_source.py`); it is compiled at first use
(`programs.py`). The definitions are in `codecs/wire`, `codecs/offsets_topic` and `core/embedded_protocol.py`.
"""
