"""What a transcript adds to Kafka's meters, by its records."""

from __future__ import annotations

from collections import Counter

from group_coordinator.runtime.meters import meter_of
from tests.conformance.language.transcript import Transcript


def counted(transcript: Transcript) -> Counter[str]:
    """By meter, since the last restart."""
    restarts = (number for number, line in enumerate(transcript.said, 1) if '"restart"' in line)
    since = transcript.outputs[max(restarts, default=0) :]
    records = (o for outputs in since for o in outputs if o["kind"] == "record")
    meters = (
        meter_of(r["key"]["type"], r["reason"], is_tombstone=r["value"] is None) for r in records
    )
    return Counter(meter for meter in meters if meter is not None)
