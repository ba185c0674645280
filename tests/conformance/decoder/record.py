"""Record what Kafka's own classes write, read and refuse, for machines without a JDK: makes tests/data/offsets_topic.jsonl anew.

python -m tests.conformance.decoder.record
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from random import Random
from tempfile import TemporaryFile

from tests.conformance.decoder.comparison import KafkaMessages
from tests.conformance.decoder.drawn_messages import one_of_each
from tests.conformance.language.lines import Json
from tests.support.offsets_topic_messages import RECORDED, Message, damaged

SEEDS = range(2)
DAMAGES = 1
"""Of each message."""


def main() -> None:
    """Write the file."""
    with TemporaryFile() as log, closing(KafkaMessages(log)) as kafka:
        lines = [
            json.dumps(message.in_hex() | {"verdict": verdict})
            for seed in SEEDS
            for message, verdict in _judged(Random(seed), kafka)  # noqa: S311 - the same every time, no secret
        ]
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _judged(random: Random, kafka: KafkaMessages) -> Iterator[tuple[Message, Json]]:
    for drawn in one_of_each(random):
        whole, verdict = kafka.written(drawn)
        yield whole, verdict
        for _ in range(DAMAGES):
            broken = damaged(random, whole)
            yield broken, kafka.verdict(broken)


if __name__ == "__main__":
    main()
