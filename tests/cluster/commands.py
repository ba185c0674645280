"""Every command that works with tables or checkpoints, where the store is: its answers are what was committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic

from tests.cluster.life import UGLY, stopped
from tests.cluster.stage import RUN_S, Stage
from tests.end_to_end.installation import Installation
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.job_process import JobProcess

_ORDERS = TopicPartition("commands-orders", 0)
_RECORDS = 10
_MIRROR = ("--cluster", "west", "--drain", "--with-compaction")
_OFFSETS = """
SELECT cluster_id, group_id, committed_offset FROM offsets WHERE topic = 'commands-orders' ORDER BY cluster_id, group_id
"""
_LAG = """
SELECT cluster_id, group_id, lag FROM lag WHERE topic = 'commands-orders' ORDER BY cluster_id, group_id
"""
_LAGS = "cluster_id,group_id,lag\ndefault,billing,6\ndefault,shipping,3\nwest,readers,1\n"


def commands(stage: Stage) -> Result:
    """Two groups are answered; each command follows; the checkpoint is lost and made again from the log."""
    installation = stage.installed(stage.installation("commands", "maintenance.interval.ms=0"))
    _fill_topic(installation)
    ran = _Commands(stage, installation)
    ran.commit({"billing": 4, "shipping": 7})
    ran.submitted("check_setup.py")
    ran.local("check")
    ran.submitted("compact_tables.py", "--drain")
    ran.submitted("sample_positions.py", "--topic", _ORDERS.topic)
    ran.local("positions", "--topic", _ORDERS.topic)
    _commit_at_the_broker(installation, "readers", 8)
    ran.submitted("mirror_offsets_topic.py", *_MIRROR)
    _commit_at_the_broker(installation, "readers", 9)
    ran.local("mirror", *_MIRROR)
    ran.ask(_OFFSETS, _committed(billing=4))
    ran.ask(_LAG, _LAGS)
    ran.ask_the_cluster(_LAG, _LAGS)
    ran.report("billing", "shipping", "readers")
    _lose_the_checkpoint(ran)
    return ran.result()


def _lose_the_checkpoint(ran: _Commands) -> None:
    """It is made again, on the cluster; who goes on is this machine."""
    ran.installation.store.remove(f"{ran.installation.checkpoint}/coordinator")
    ran.submitted("rebuild_checkpoint.py")
    ran.commit({"billing": 8})
    ran.local("run", "--drain", "--with-compaction")
    ran.ask(_OFFSETS, _committed(billing=8))


def _committed(billing: int) -> str:
    header = "cluster_id,group_id,committed_offset"
    return f"{header}\ndefault,billing,{billing}\ndefault,shipping,7\nwest,readers,9\n"


@dataclass
class _Commands:
    """Runs each to its end. It must bring status 0, and a log with nothing to frighten anybody."""

    stage: Stage
    installation: Installation
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, list[int]] = field(default_factory=dict)

    def commit(self, offsets: Mapping[str, int]) -> None:
        """The coordinator answers, and is asked to stop."""
        with (
            self.stage.submit(self.installation) as job,
            closing(self.installation.admin()) as admin,
        ):
            for group, offset in offsets.items():
                admin.alter_consumer_group_offsets(group, {_ORDERS: offset}).all()
            self.problems += stopped(job, self.installation)

    def local(self, command: str, *arguments: str) -> None:
        """On this machine, as `group-coordinator`."""
        servers = f"bootstrap.servers={self.installation.bootstrap_servers}"
        settings = [f"--set={each}" for each in (*self.installation.overrides, servers)]
        given = [command, *settings, *arguments]
        self._to_the_end(command, lambda: JobProcess(given, self.installation.folder))

    def submitted(self, script: str, *arguments: str) -> None:
        """On the cluster, by spark-submit."""
        self._to_the_end(
            script, lambda: self.stage.submit(self.installation, *arguments, script=script)
        )

    def _to_the_end(self, name: str, start: Callable[[], JobProcess]) -> None:
        begun_s = time.monotonic()
        with start() as job:
            status = job.wait(RUN_S)
        self.seconds.setdefault(name, []).append(round(time.monotonic() - begun_s))
        if status or any(word in job.log for word in UGLY):
            self.problems.append(f"{name}: status {status}: {job.log[-500:]}")

    def ask(self, query: str, expected: str) -> None:
        """Without Spark."""
        self._asked(partial(self.local, "sql"), query, expected)

    def ask_the_cluster(self, query: str, expected: str) -> None:
        """By its Spark."""
        self._asked(partial(self.submitted, "ask_tables.py"), query, expected)

    def _asked(self, run: Callable[..., None], query: str, expected: str) -> None:
        answer = self.installation.folder / "answer.csv"
        answer.write_text("")
        run(query, "--output", "csv", str(answer))
        if answer.read_text() != expected:
            self.problems.append(f"{query}: {answer.read_text()}")

    def report(self, *groups: str) -> None:
        page = self.installation.folder / "report.html"
        page.write_text("")
        self.local("report", "--output", str(page))
        missing = [group for group in groups if group not in page.read_text()]
        self.problems += [f"report: no word of {group}" for group in missing]

    def result(self) -> Result:
        result = judged("commands", self.installation, 3)
        result.problems += self.problems
        result.figures["seconds"] = self.seconds
        return result


def _fill_topic(installation: Installation) -> None:
    servers = installation.bootstrap_servers
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        admin.create_topics([NewTopic(_ORDERS.topic, 1, 1)])
    with closing(KafkaProducer(bootstrap_servers=servers)) as producer:
        for _ in range(_RECORDS):
            producer.send(_ORDERS.topic, b"an order", partition=_ORDERS.partition)
        producer.flush()


def _commit_at_the_broker(installation: Installation, group: str, offset: int) -> None:
    """A group that the brokers' own coordinator has."""
    servers = installation.bootstrap_servers
    with closing(KafkaConsumer(bootstrap_servers=servers, group_id=group)) as consumer:
        consumer.assign([_ORDERS])
        consumer.commit({_ORDERS: OffsetAndMetadata(offset, "", -1)})
