"""The codec of Kafka's binary messages: a notation for their layouts, and a compiler from the notation to Python.

1. A definition has the fields of a message and their versions (`notation.py`).
2. A layout has the fields of a version (`layouts.py`).
3. The source of a decoder or an encoder has a function for each struct of the layout (`decoder_source.py`, `encoder_source.py`).
4. The source is compiled at first use (`programs.py`, `layouts.py`). `programs.py` also finds the field and the reason of a failure.

`codecs/wire` defines requests and responses, `codecs/offsets_topic` the records of __consumer_offsets, `core/embedded_protocol.py`
the subscriptions and assignments of classic consumers. `layouts.py` has the differences between them.
"""
