"""The mirror is killed at one step after the other, and started again, while it reads a topic in batches of a part."""

from __future__ import annotations

import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

from confluent_kafka import Producer
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError
from msgspec import json

from group_coordinator.clients.sql_tables import query
from tests.faults.mirror_steps import COMPACTION_STEPS, MIRROR_STEPS
from tests.faults.result import Result
from tests.faults.scene import RUN_S, Scene
from tests.support.job_process import COMMAND, JobProcess
from tests.support.offsets_topic_messages import recorded

_TOPIC = "mirror-killed"
_ROUNDS, _PARTITIONS = 5, 2
_LAUNCHER = "tests.faults.job_with_fault"
_FACTS = {
    "coordinator_log": "SELECT * EXCEPT (ingested_at) FROM coordinator_log",
    "dead_letters": "SELECT * EXCEPT (ingested_at, key, value), encode(key, 'hex') AS key, "
    "encode(value, 'hex') AS value FROM dead_letters",
    "groups": "SELECT * FROM groups",
    "members": "SELECT * FROM members",
    "offsets": "SELECT * FROM offsets",
}
"""What must be as in an undisturbed run."""


def mirror_killed(scene: Scene) -> Result:
    """Kill at every step of the second batch, and of compaction; then let it read all."""
    _fill(scene.bootstrap_servers)
    _mirror(scene, "mirror-undisturbed", COMMAND, 0)
    steps = (*MIRROR_STEPS, *COMPACTION_STEPS)
    for step in steps:
        marker = scene.folder / f"{step}.happened"
        # In a drain compaction has one batch.
        first_batch = "0" if step in COMPACTION_STEPS else "1"
        program = (_LAUNCHER, step, first_batch, str(marker))
        _mirror(scene, _TOPIC, program, -signal.SIGKILL)
    _mirror(scene, _TOPIC, COMMAND, 0)
    wanted, found = (_facts(scene.folder / name) for name in ("mirror-undisturbed", _TOPIC))
    lost, doubled = wanted - found, found - wanted
    problems = [
        f"{table}: {'lost' if of is lost else 'more'}: {fact}"
        for of in (lost, doubled)
        for table, fact in of
    ]
    return Result("kill-mirror", len(steps) + 1, lost.total(), doubled.total(), problems)


def _fill(servers: str) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        try:
            admin.create_topics([NewTopic(_TOPIC, _PARTITIONS, 1)], wait_for_metadata=True)
        except TopicAlreadyExistsError:
            return
    producer = Producer({"bootstrap.servers": servers})
    for number in range(_ROUNDS):
        for message, _ in recorded():
            producer.produce(_TOPIC, message.value, message.key, partition=number % _PARTITIONS)
    assert producer.flush(60) == 0


def _mirror(scene: Scene, name: str, program: tuple[str, ...], status: int) -> None:
    folder = scene.folder / name
    folder.mkdir(exist_ok=True)
    settings = ("tables.root=./tables", "checkpoint.location=./checkpoint")
    settings += ("mirror.max.offsets.per.trigger=200", "mirror.positions.interval.ms=0")
    settings += ("offsets.retention.minutes=10080",)
    arguments = ["mirror", "--bootstrap-server", scene.bootstrap_servers, "--cluster", "killed"]
    arguments += ["--topic", _TOPIC, "--drain", "--with-compaction"]
    arguments += [option for setting in settings for option in ("--set", setting)]
    with JobProcess(arguments, folder, program=program) as job:
        assert job.wait(RUN_S) == status, job.log


def _facts(folder: Path) -> Counter[tuple[str, str]]:
    return Counter(
        (table, json.encode(row).decode())
        for table, sql in _FACTS.items()
        for row in query(str(folder / "tables"), sql).to_pylist()
    )
