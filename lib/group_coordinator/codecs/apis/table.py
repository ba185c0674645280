"""The table of codecs by API. The codec of an API is in the module here with the name of its handler in `core/apis.py`.

Bodies follow the rules of Kafka's message definitions. An absent field has the version's default. A field that the version does
not have is ignored if Kafka calls it ignorable; otherwise it must have its default.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from group_coordinator.codecs.apis.api import ApiCodec
from group_coordinator.core.apis import APIS, Handler


def _codec(handler: Handler[Any]) -> ApiCodec[Any]:
    name = handler.__name__.rpartition(".")[2]
    # By name, so that a new API needs no further list of modules.
    codec: ApiCodec[Any] = import_module(f"{__package__}.{name}").CODEC
    return codec


CODECS = {name: _codec(api.handler) for name, api in APIS.items()}
"""The codecs by Kafka's name of the API."""
