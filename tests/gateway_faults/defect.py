"""A gateway whose state machine has a wrong rule: how long until its responses no longer count?"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack, closing
from pathlib import Path

from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import OffsetMetadataTooLargeError

from tests.faults.result import Result
from tests.gateway_faults.readers import TOPIC
from tests.gateway_faults.stage import Stage
from tests.mutations.flips import FLIPS
from tests.support.job_process import ROOT
from tests.support.until import until

_RULE = "metadata of the greatest length is too long"
_NOTICED_S, _FOLLOWED_S = 10.0, 30.0
_LONGEST_S = 1.0
_WARM = 20


def defect_noticed(folder: Path) -> Result:
    """Let the gateway reject a commit that the job takes; the job's response must switch its replica off."""
    with ExitStack() as resources:
        # The other scenes compact every second.
        stage = Stage(folder, resources, more=("compaction.interval.ms=10000",))
        stage.start_gateway({"PYTHONPATH": os.pathsep.join([str(_flipped(folder)), str(ROOT)])})
        stage.start_job()
        stage.await_job()
        longest = "x" * stage.installation.settings.coordinator.offset_metadata_max_bytes
        with closing(KafkaAdminClient(bootstrap_servers=stage.bootstrap_servers)) as admin:
            admin.create_topics([NewTopic(TOPIC, 1, 1)], wait_for_metadata=True)
        consumer = KafkaConsumer(bootstrap_servers=stage.bootstrap_servers, group_id="billing")
        with closing(consumer):
            # The job's first batches take long: Java compiles.
            for offset in range(_WARM):
                _commit(consumer, offset, "")
            until(
                lambda: _is_answered_early(stage, consumer),
                seconds=_FOLLOWED_S,
                awaited="the replica",
            )
            problems = [] if _is_rejected(consumer, longest) else ["the wrong rule has no effect"]
            rejected_s = time.monotonic()
            until(
                lambda: stage.replica("different_total"),
                seconds=_NOTICED_S,
                awaited="the comparison",
                poll_s=0.01,
            )
            noticed_s = time.monotonic() - rejected_s
            if noticed_s > _LONGEST_S:
                problems.append(f"noticed after {noticed_s:.2f} s")
            if _is_rejected(consumer, longest):
                problems.append("the replica with the wrong rule goes on")
        figures = {"noticed after ms": round(noticed_s * 1000), **_counts(stage)}
        return Result("defect", 1, 0, 0, problems, figures)


def _flipped(folder: Path) -> Path:
    """A copy of the library with the wrong rule."""
    lib = folder / "lib"
    shutil.copytree(ROOT / "lib", lib, ignore=shutil.ignore_patterns("__pycache__"))
    [flip] = [each for each in FLIPS if each.name == _RULE]
    source = lib / "group_coordinator" / "core" / flip.file
    source.write_text(flip.of(source.read_text()))
    return lib


def _commit(consumer: KafkaConsumer, offset: int, metadata: str) -> None:
    consumer.commit({TopicPartition(TOPIC, 0): OffsetAndMetadata(offset, metadata, -1)})


def _is_answered_early(stage: Stage, consumer: KafkaConsumer) -> bool:
    before = stage.replica("answers_total")
    _commit(consumer, 0, "")
    return stage.replica("answers_total") > before


def _is_rejected(consumer: KafkaConsumer, metadata: str) -> bool:
    try:
        _commit(consumer, 1, metadata)
    except OffsetMetadataTooLargeError:
        return True
    return False


def _counts(stage: Stage) -> dict[str, int]:
    return {f"{name} responses": stage.replica(f"{name}_total") for name in ("equal", "different")}
