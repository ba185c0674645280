"""65,000 groups of 20 partitions in a real broker: first loads, each view's example, the report, and compaction.

    python -m tests.benchmarks.many_groups [--groups 65000] [--rate 10000] [--seconds 120] [--only PART]... [--folder FOLDER]

Parts: topic and admin (the first load by each source of the mirror), views, report, compaction. Each group has a member with all
its partitions; the records are written into the broker's __consumer_offsets, which it reads at its start. Commands are measured
from their start to their end, with the memory of all their processes. For compaction a mirror runs while groups commit so many
times a second: it is behind by the age of the newest commit in the table offsets, looked at again and again. Its intervals are
short (OFTEN), as the defaults alone make 15 seconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from rich.console import Console

from group_coordinator.clients.sql_tables import query
from group_coordinator.codecs.offsets_topic import MessageRecord, encode, partition_of
from group_coordinator.core.embedded_protocol import encode_assignment, encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.records import (
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    OffsetRecord,
    Reason,
)
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.measured import Memory, show
from tests.benchmarks.year.questions import examples

OFFSETS_TOPIC, OFFSETS_PARTITIONS = "__consumer_offsets", 50
PARTITIONS, TOPICS = 20, 100
INTERNAL = "__admin_client"
"""The client id from which a broker takes records of its internal topics."""
SESSION_MS = 3_600_000
LOADS, PARTS = ("topic", "admin"), ("views", "report", "compaction")
OFTEN = ("mirror.interval.ms=2000", "compaction.interval.ms=1000")
"""Settings of a mirror whose tables are up to date within ten seconds."""
WORST = {
    "group_status, worst ten": "SELECT * FROM group_status ORDER BY total_lag DESC LIMIT 10",
    "lag, worst ten": "SELECT * FROM lag ORDER BY lag DESC LIMIT 10",
    "lost_offsets, counted": "SELECT reason, count(*) FROM lost_offsets GROUP BY reason",
}
COMMAND = (sys.executable, "-m", "group_coordinator.cli.main")
_say = Console(stderr=True).print


def group_name(number: int) -> str:
    return f"billing-{number}"


def topic_of(number: int) -> str:
    return f"orders-{number % TOPICS}"


def commits_of(number: int, now_ms: int) -> Iterator[OffsetRecord]:
    """A commit to each partition of a group."""
    offset = CommittedOffset(
        offset=number % 997,
        leader_epoch=0,
        metadata="",
        commit_timestamp_ms=now_ms,
        expire_timestamp_ms=None,
        topic_id=None,
    )
    for partition in range(PARTITIONS):
        yield OffsetRecord(topic_of(number), partition, offset, Reason.OFFSET_COMMIT)


def group_of(number: int, now_ms: int) -> GroupRecord:
    """A classic group with one member, whose session outlasts the benchmark."""
    topic, member_id = topic_of(number), f"consumer-{number}"
    member = MemberMetadata(
        member_id=member_id,
        group_instance_id=None,
        client_id=member_id,
        client_host="/10.0.0.1",
        rebalance_timeout_ms=SESSION_MS,
        session_timeout_ms=SESSION_MS,
        subscription=Protocol("range", encode_subscription([topic])),
        assignment=encode_assignment({topic: range(PARTITIONS)}),
    )
    group = GroupMetadata(
        protocol_type="consumer",
        generation=1,
        protocol="range",
        leader=member_id,
        state_timestamp_ms=now_ms,
        members=(member,),
    )
    return GroupRecord(group, Reason.SYNC)


def messages(
    records: Iterable[tuple[int, MessageRecord]],
) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Partition of the offsets topic, key and value of each record of a group, as the broker writes them."""
    for number, record in records:
        name = group_name(number)
        yield partition_of(name, OFFSETS_PARTITIONS), *encode(name, record)


def all_records(groups: int) -> Iterator[tuple[int, MessageRecord]]:
    """First the groups, then their commits."""
    now_ms = time.time_ns() // 1_000_000
    for number in range(groups):
        yield number, group_of(number, now_ms)
    for number in range(groups):
        yield from ((number, record) for record in commits_of(number, now_ms))


def wait_for_groups(servers: str) -> None:
    """Wait until a broker that has started has read its groups: that takes both cores for ten seconds."""
    admin = AdminClient({"bootstrap.servers": servers})
    while not (found := admin.list_consumer_groups().result(60)).valid or found.errors:
        time.sleep(1)


def produce(servers: str, found: Iterable[tuple[int, bytes, bytes | None]]) -> None:
    """Write messages into the offsets topic, and wait until the broker has them."""
    client = {"bootstrap.servers": servers, "client.id": INTERNAL, "linger.ms": 20}
    producer = Producer(client)
    for number, (partition, key, value) in enumerate(found):
        producer.produce(OFFSETS_TOPIC, value, key, partition=partition)
        if number % 20_000 == 0:
            producer.flush(60)
    producer.flush(60)


def fill(servers: str, groups: int) -> None:
    """Make the topics, with 1,000 records in each partition that groups read, and the records of the groups."""
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [NewTopic(topic_of(number), PARTITIONS, 1) for number in range(TOPICS)]
    compacted = {"cleanup.policy": "compact"}
    offsets = NewTopic(OFFSETS_TOPIC, OFFSETS_PARTITIONS, 1, config=compacted)
    for made in admin.create_topics([*topics, offsets]).values():
        made.result(60)
    producer = Producer({"bootstrap.servers": servers})
    for topic in topics:
        for partition in range(PARTITIONS):
            for _ in range(1_000):
                producer.produce(topic.topic, b"", partition=partition)
        producer.flush(60)
    produce(servers, messages(all_records(groups)))


def command(*arguments: str) -> tuple[float, float]:
    """Run group-coordinator. Return its seconds, and the gigabytes of its processes."""
    begun_s = time.perf_counter()
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL) as process:  # noqa: S603 - a fixed program
        memory = Memory(process.pid)
        status = process.wait()
        memory.close()
    if status:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {status}")
    return round(time.perf_counter() - begun_s, 1), round(memory.highest_bytes / 1e9, 2)


class Measured:
    """Figures so far, shown as they come."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}

    def add(self, what: str, seconds: float, gigabytes: float | None = None) -> None:
        """Add the seconds of something, and the memory that it took."""
        self.figures[f"{what}, s"] = seconds
        if gigabytes is not None:
            self.figures[f"{what}, GB"] = gigabytes
        _say(f"{what}: {seconds} s, {gigabytes} GB")


def options(servers: str, folder: Path, settings: Sequence[str] = ()) -> tuple[str, ...]:
    """Options of a mirror with settings whose tables and checkpoint are in a folder."""
    places = (f"tables.root={folder}/tables", f"checkpoint.location={folder}/checkpoint")
    sets = (part for setting in (*places, *settings) for part in ("--set", setting))
    return ("--bootstrap-server", servers, "--with-compaction", *sets)


def load(servers: str, folder: Path, source: str, measured: Measured) -> None:
    """Load all groups into new tables."""
    took = command("mirror", "--source", source, "--drain", *options(servers, folder))
    measured.add(f"first load by {source}", *took)


def ask(folder: Path, measured: Measured) -> None:
    """Ask each view's example, and the worst of all groups."""
    for name, sql in {**examples(), **WORST}.items():
        measured.add(name, *command("sql", "--tables", f"{folder}/tables", sql))


def make_report(folder: Path, measured: Measured) -> None:
    """Make the report."""
    page = ("--tables", f"{folder}/tables", "--output", f"{folder}/report.html")
    measured.add("report", *command("report", *page))


def follow(
    servers: str, folder: Path, groups: int, rate: int, seconds: int, measured: Measured
) -> None:
    """Measure how far a running mirror's compaction is behind the commits."""
    arguments = ("mirror", *options(servers, folder, OFTEN))
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL) as mirror:  # noqa: S603 - a fixed program
        memory = Memory(mirror.pid)
        try:
            behind = _behind(servers, folder, groups, rate, seconds)
        finally:
            mirror.terminate()
            mirror.wait()
            memory.close()
    measured.add(f"compaction behind {rate} commits/s", max(behind), memory.highest_bytes / 1e9)


def _behind(servers: str, folder: Path, groups: int, rate: int, seconds: int) -> list[float]:
    """Commit for a while, and look every second; the first half, in which Java compiles, does not count."""
    numbers, begun_s = cycle(range(groups)), time.monotonic()
    behind: list[float] = []
    for second in range(2 * seconds):
        now_ms = time.time_ns() // 1_000_000
        some = islice(numbers, rate // PARTITIONS)
        produce(servers, messages((n, record) for n in some for record in commits_of(n, now_ms)))
        time.sleep(max(begun_s + second + 1 - time.monotonic(), 0))
        if second >= seconds:
            behind.append(time.time() - _newest_s(folder))
    return behind


def _newest_s(folder: Path) -> float:
    newest = query(f"{folder}/tables", "SELECT max(commit_timestamp) AS newest FROM offsets")
    return float(newest["newest"][0].as_py().timestamp())


def measure(servers: str, folder: Path, parts: Sequence[str], chosen: argparse.Namespace) -> None:
    """Print the table and the JSON of some parts. Views, report and compaction need tables: those of the last load."""
    measured, folders = Measured(), [folder / source for source in LOADS]
    for source, own in zip(LOADS, folders, strict=True):
        if source in parts:
            load(servers, own, source, measured)
    own = next(each for each in folders if (each / "tables").exists())
    if "views" in parts:
        ask(own, measured)
    if "report" in parts:
        make_report(own, measured)
    if "compaction" in parts:
        follow(servers, own, chosen.groups, chosen.rate, chosen.seconds, measured)
    show(f"{chosen.groups:,} groups of {PARTITIONS} partitions", measured.figures)


def main() -> None:
    """Fill a broker, unless the folder has one from an earlier run, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=65_000)
    parser.add_argument("--rate", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--only", action="append", choices=[*LOADS, *PARTS])
    parser.add_argument("--folder", type=Path, help="keeps broker and tables for another run")
    chosen = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        is_filled = (folder / "broker" / "data").exists()
        properties = {"offsets.topic.num.partitions": str(OFFSETS_PARTITIONS)}
        broker = EmbeddedBroker(folder / "broker", properties=properties)
        if not is_filled:
            with broker:
                fill(broker.bootstrap_servers, chosen.groups)
        with broker:
            wait_for_groups(broker.bootstrap_servers)
            parts = chosen.only or [*LOADS, *PARTS]
            measure(broker.bootstrap_servers, folder, parts, chosen)


if __name__ == "__main__":
    main()
