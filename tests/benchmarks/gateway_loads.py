"""What the benchmark of the gateway sends and hears."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from group_coordinator.codecs import wire

_FETCH = {"maxWaitMs": 100, "minBytes": 1, "topics": []}
_KIB = {"index": 0, "records": "A" * 1364}  # base64 of 1,023 bytes
_16_KIB = {"index": 0, "records": "A" * 16 * 1364}
_PRODUCED = {"responses": [{"name": "orders", "partitionResponses": [{"index": 0}]}]}


class Load(NamedTuple):
    """One kind of exchange, of which `at_once` are open at a time; `answer` is what follows the correlation id."""

    request: bytes
    answer: bytes
    at_once: int
    in_a_second: int
    """About so many."""


def _fetch(answer_bytes: int, at_once: int, in_a_second: int) -> Load:
    request = wire.request("Fetch", 12, 0, "benchmark", _FETCH)
    return Load(request, bytes(answer_bytes), at_once, in_a_second)


def _produce(
    version: int,
    at_once: int,
    in_a_second: int,
    partitions: Sequence[Mapping[str, Any]] = (_KIB,),
) -> Load:
    topics = [{"name": "orders", "partitionData": partitions}]
    body = {"acks": 1, "timeoutMs": 100, "topicData": topics}
    request = wire.request("Produce", version, 0, "benchmark", body)
    return Load(request, wire.response("Produce", version, 0, _PRODUCED)[8:], at_once, in_a_second)


LOADS = {
    "fetch_1_mib": _fetch(1024 * 1024, 4, 1_000),
    "fetch_1_kib": _fetch(1024, 50, 20_000),
    "produce_1_mib": _produce(9, 4, 500, [_16_KIB] * 64),
    "produce_1_kib": _produce(9, 50, 20_000),
    "produce_1_kib_one_by_one": _produce(9, 1, 5_000),
    # From this version on answers may have addresses in them and are read.
    "produce_v11_1_kib_one_by_one": _produce(11, 1, 5_000),
}
