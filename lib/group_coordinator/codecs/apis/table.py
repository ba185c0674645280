"""The codec of each API: the module here that has the name of its handler in `core/apis.py`.

What a body says follows the rules of Kafka's message definitions: what is left out has the version's default, and a
field that a version does not know is passed over where Kafka calls it ignorable; else it must have its default.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from group_coordinator.codecs.apis.api import ApiCodec
from group_coordinator.core.apis import APIS, Handler


def _codec(handler: Handler[Any]) -> ApiCodec[Any]:
    name = handler.__name__.rpartition(".")[2]
    codec: ApiCodec[Any] = import_module(f"{__package__}.{name}").CODEC
    return codec


CODECS = {name: _codec(api.handler) for name, api in APIS.items()}
"""By Kafka's name."""
