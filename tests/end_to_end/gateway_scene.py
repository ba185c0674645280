"""The gateway beside a running job: what Kafka's tool, the broker and the tables then say of who reads through it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.error import URLError
from urllib.request import urlopen

from kafka import KafkaAdminClient

from group_coordinator.local.broker import LOOPBACK, free_row
from tests.broker.clients.kafka_tool import kafka_consumer_groups
from tests.end_to_end.consume_commands import CONSUMED, TAKEN, two_commands
from tests.end_to_end.installation import Installation
from tests.end_to_end.ordinary_clients import (
    KAFKA_PYTHON,
    LIBRDKAFKA,
    LIBRDKAFKA_KIP848,
    RECORDS,
    TOPIC,
    who_read_and_committed,
)
from tests.support.job_process import JobProcess

_DEADLINE_S = 60.0
FIRST_EPOCH = 2
"""Of a consumer group whose first member got its partitions at once."""
_NODES = 2
"""The session's broker is node 1: the bootstrap port has two behind it, the second of which is its own."""

READ = list(range(RECORDS))
DESCRIBED = [
    f"{group} {TOPIC} {partition} 10 10 0"
    for group in (KAFKA_PYTHON, LIBRDKAFKA, LIBRDKAFKA_KIP848)
    for partition in (0, 1)
]
"""Group, topic, partition, committed offset, end of the log, lag."""
GROUPS = """
SELECT g.group_id, group_type, state, member_count, CASE group_type WHEN 'consumer' THEN generation_or_epoch END AS epoch,
       sum(committed_offset) AS committed
FROM groups g JOIN offsets o ON o.group_id = g.group_id AND topic = 'deliveries'
GROUP BY g.group_id, group_type, state, member_count, generation_or_epoch ORDER BY g.group_id
"""
AT_WORK = [
    (CONSUMED, "classic", "Empty", 0, None, TAKEN),
    (KAFKA_PYTHON, "classic", "Stable", 1, None, RECORDS),
    (LIBRDKAFKA, "classic", "Stable", 1, None, RECORDS),
    (LIBRDKAFKA_KIP848, "consumer", "Stable", 1, FIRST_EPOCH, RECORDS),
]
"""The first heartbeat has made the assignment: another one would have been another epoch.

kafka-python joins a second time when it hears late of the partitions of a topic that is new.
"""


class GatewayBeside:
    """Where the gateway of a run is, and the options that put it there."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        port = free_row(_NODES + 2)
        self.bootstrap_servers = f"{LOOPBACK}:{port}"
        self._health = f"{LOOPBACK}:{port + _NODES + 1}"

    @property
    def options(self) -> list[str]:
        overrides = (
            f"gateway.listen={self.bootstrap_servers}",
            f"gateway.health.listen={self._health}",
            "group.initial.rebalance.delay.ms=0",
        )
        return ["--with-gateway", *(word for each in overrides for word in ("--set", each))]

    def is_ready(self) -> bool:
        try:
            with urlopen(f"http://{self._health}/ready", timeout=_DEADLINE_S):
                return True
        except URLError:
            return False


@contextmanager
def ordinary_clients_are_coordinated(gateway: GatewayBeside, job: JobProcess) -> Iterator[None]:
    """Three groups, at work while the block runs, read everything, commit, and are known to the job alone.

    So are those of our own command, which have ended by then.
    """
    installation, servers = gateway.installation, gateway.bootstrap_servers
    job.until(gateway.is_ready, seconds=_DEADLINE_S, awaited="the gateway")
    with who_read_and_committed(servers) as read:
        assert read == {KAFKA_PYTHON: READ, LIBRDKAFKA: READ, LIBRDKAFKA_KIP848: READ}
        groups = [word for group in read for word in ("--group", group)]
        with two_commands(installation):  # the job's topics are closed to them at the gateway
            said = kafka_consumer_groups(servers, "--describe", *groups)
        assert _offsets_in(said.out) == DESCRIBED, said
        assert _groups_of(installation.bootstrap_servers).isdisjoint({*read, CONSUMED})

        def in_tables() -> bool:
            rows = installation.rows(GROUPS)
            return [tuple(row.values()) for row in rows] == AT_WORK

        job.until(
            in_tables, seconds=_DEADLINE_S, awaited=lambda: f"not {installation.rows(GROUPS)}"
        )
        yield


def _offsets_in(said: str) -> list[str]:
    """What kafka-consumer-groups says of offsets, without the members."""
    return sorted(" ".join(line.split()[:6]) for line in said.splitlines() if TOPIC in line)


def _groups_of(servers: str) -> set[str]:
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        return {group["group_id"] for group in admin.list_groups()}
