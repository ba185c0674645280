"""The show of the gateway: ordinary clients, whose groups the job has."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import NamedTuple

from rich.console import RenderableType

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.demo import tables_watch
from group_coordinator.demo.consumers import (
    ACCOUNTING,
    BILLING,
    LEDGER_TOPIC,
    LOYALTY_POINTS,
    NEWSLETTER,
    PARTITION_COUNTS,
    RECOMMENDATIONS,
    RETURNS_DESK,
    SEARCH_INDEX,
    SPRING_SALE,
    Application,
    ShopConsumers,
)
from group_coordinator.demo.job_process import WITH_GATEWAY
from group_coordinator.demo.screen import ClosingPage, PanelLine, panel, shown
from group_coordinator.demo.stage import Stage, Tool, page_at
from group_coordinator.demo.story import DemoOptions, Scene, Shop
from group_coordinator.local.broker import LOOPBACK, free_row
from group_coordinator.local.jars import CONSOLE_CONSUMER, CONSUMER_GROUPS, tool_command

CHECKOUT = Application("checkout", ("orders", "payments"), 2, protocol="consumer")
"""Gets two more members."""
CONSOLE = Application("console", ("shipments",))
"""Kafka's own console consumer, in Java, in a process of its own."""
APPLICATIONS = (
    *(RETURNS_DESK, LOYALTY_POINTS, RECOMMENDATIONS, SPRING_SALE, BILLING, CHECKOUT, NEWSLETTER),
    *(SEARCH_INDEX, ACCOUNTING),
)

_PORTS = 4
"""Ports of the gateway: bootstrap, node 0, node 1, and health; the broker that the demo starts is node 1."""
_RETENTION_MS = 60_000
"""Retention of unprotected offsets; by default a cluster keeps them for a week."""
# Just before the next check for expirations, which comes a minute after the first departure.
_EXPIRY_AT_S = 59
_LOOK_S = 1.0

_LINE = re.compile(r"group_coordinator_gateway_(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_PENDING = frozenset({"JoinGroup", "SyncGroup"})
"""These wait until all members have joined, so their latency does not depend on the job."""
_COUNTED = {"connections", "parked_requests", "requests_total", "answer_seconds_count"}


class GatewayCounts(NamedTuple):
    """Counts since the gateway's start, except `connections` and `pending` joins and syncs, which are present values."""

    connections: int
    pending: int
    requests: int
    responses: int
    """Responses of the job."""
    half_within_s: float | None
    """Half of the responses took no longer, without joins and syncs, rounded up to a bucket; None: they took longer."""
    most_within_s: float | None
    """The same for 95 of 100."""


def counts_on(page: str) -> GatewayCounts:
    totals: Counter[str] = Counter()
    within: Counter[float] = Counter()
    for name, labels, value in _LINE.findall(page):
        labelled = dict(_LABEL.findall(labels))
        if name == "answer_seconds_bucket" and labelled["api"] not in _PENDING:
            within[float(labelled["le"].replace("+Inf", "inf"))] += int(value)
        elif name in _COUNTED:
            totals[name] += int(value)
    return GatewayCounts(
        connections=totals["connections"],
        pending=totals["parked_requests"],
        requests=totals["requests_total"],
        responses=totals["answer_seconds_count"],
        half_within_s=_bound(within, 0.5),
        most_within_s=_bound(within, 0.95),
    )


def _bound(within: Counter[float], share: float) -> float | None:
    wanted = within[inf] * share
    found = (bound for bound in sorted(within) if wanted and within[bound] >= wanted)
    bound = next(found, inf)
    return None if bound == inf else bound


@dataclass(frozen=True, slots=True)
class GatewayFigures:
    """Figures from the gateway and the tables; None: not known yet."""

    counts: GatewayCounts | None = None
    batch_s: float | None = None
    tables: tables_watch.TableCounts = tables_watch.NO_COUNTS

    def panels(self) -> Sequence[RenderableType]:
        counts = self.counts
        gateway = [
            PanelLine("Clients", shown(counts and counts.connections), "connections"),
            PanelLine("Requests", shown(counts and counts.requests), "of all kinds"),
            PanelLine("Job", shown(counts and counts.responses), "responses by the job"),
            PanelLine("Half", _seconds(counts and counts.half_within_s), "at most, to respond"),
            PanelLine("95 %", _seconds(counts and counts.most_within_s), "at most, to respond"),
            PanelLine("Pending", shown(counts and counts.pending), "joins and syncs"),
        ]
        job = [
            PanelLine("Batch", shown(self.batch_s, " s"), "the job's last batch"),
            PanelLine("Offsets", shown(self.tables.offset_count), "committed and kept"),
            PanelLine("Expired", shown(self.tables.expired_count), "retention is over"),
            PanelLine("Deleted", shown(self.tables.deleted_count), "by an administrator"),
        ]
        return panel("Gateway", gateway), panel("Job", job)

    def line(self) -> str | None:
        counts, tables = self.counts, self.tables
        if counts is None:
            return None
        return (
            f"{counts.connections} connections, {counts.requests} requests; {counts.responses} responses by the job, "
            f"half of them within {_seconds(counts.half_within_s)}; {shown(tables.offset_count)} offsets, "
            f"{shown(tables.expired_count)} expired, {shown(tables.deleted_count)} deleted"
        )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:g} s"


class GatewayShow:
    """librdkafka, kafka-python and Kafka's console consumer at work, and Kafka's own kafka-consumer-groups."""

    title = "Ordinary Kafka clients, coordinated by a Spark job"
    introduction: tuple[str, ...] = (
        "Clients are unmodified: librdkafka, kafka-python, console consumer.",
        "They have the gateway's address, and their groups are the job's.",
        "Kafka's own tool lists, describes, resets and deletes the groups.",
        "At the end SQL shows which group lost which offsets, and why.",
    )
    cluster = "shop"
    questions: Sequence[tables_watch.ViewQuestion] = (
        *(tables_watch.GROUPS, tables_watch.LOST, tables_watch.RESET, tables_watch.NEXT),
    )
    group_prefix = ""

    def __init__(self, options: DemoOptions) -> None:
        self._options = options
        self.figures = GatewayFigures()
        self._looked_s = 0.0

    def open(self, stage: Stage) -> None:
        self._stage = stage
        stage.fetch_jars()
        stage.fetch_jars("tools")
        self._broker = stage.start_broker()
        first_port = free_row(_PORTS)
        self._listen = f"{LOOPBACK}:{first_port}"
        self._health = f"http://{LOOPBACK}:{first_port + _PORTS - 1}"
        stage.folder.write_settings(
            {
                "bootstrap.servers": self._broker,
                "cluster.id": self.cluster,
                "gateway.listen": self._listen,
                "gateway.health.listen": self._health.removeprefix("http://"),
                "offsets.retention.ms": _RETENTION_MS,
                "offsets.retention.check.interval.ms": 5_000,
                "compaction.interval.ms": 5_000,
            }
        )
        stage.board.say(
            "The job starts, with the gateway next to it: Spark Structured Streaming, with its Delta tables. That takes a "
            "while."
        )
        stage.start_job("User:demo", WITH_GATEWAY)
        while page_at(f"{self._health}/ready") is None:
            stage.tick()
        shop = Shop(Connection(self._listen), PARTITION_COUNTS, LEDGER_TOPIC)
        stage.resources.callback(shop.close)
        shop.open()
        stage.start_sampling(PARTITION_COUNTS)
        self._start_consumers(stage)

    def _start_consumers(self, stage: Stage) -> None:
        self.consumers = ShopConsumers(self._listen)
        stage.resources.callback(self.consumers.close)
        stage.tasks.append(self.consumers.check)
        for application in APPLICATIONS:
            self.consumers.join(application)
        stage.board.say(
            f"{len(APPLICATIONS) + 1} groups begin to read a shop's topics: librdkafka and kafka-python, both protocols, one in "
            f"transactions, and Kafka's console consumer. Their only setting is bootstrap.servers={self._listen}"
        )
        [topic] = CONSOLE.topics
        words = ("--bootstrap-server", self._listen, "--topic", topic, "--group", CONSOLE.group_id)
        stage.board.add(f"$ kafka-console-consumer {' '.join(words)} --from-beginning")
        command = tool_command(CONSOLE_CONSUMER, *words, "--from-beginning")
        console = stage.start("console", "The console consumer", command)
        self.through_gateway = stage.administrator(_groups_tool(self._listen))
        self.at_broker = stage.administrator(_groups_tool(self._broker))
        news = (tables_watch.LOSSES, tables_watch.RESETS, tables_watch.ENDS)
        self.watch = tables_watch.TablesReader(str(stage.folder.tables), stage.board.add, news)
        stage.tasks.append(self._look)
        since_s = time.monotonic()
        while not (self.consumers.have_all_read and '{"number":' in console.output):
            stage.tick()
        stage.board.say(
            f"All {self.consumers.count + 1} consumers read, {time.monotonic() - since_s:.0f} s after their start: each "
            "response about a group comes from a batch of the job, records come from the broker at once."
        )
        stage.resources.enter_context(tables_watch.running(self.watch.look))

    def _look(self) -> None:
        if time.monotonic() - self._looked_s > _LOOK_S:
            self._looked_s = time.monotonic()
            page = page_at(f"{self._health}/metrics")
            counts = self.figures.counts if page is None else counts_on(page)
            self.figures = GatewayFigures(counts, self._stage.batch_s(), self.watch.counts)

    def scenes(self) -> list[Scene]:
        return self._options.scaled(
            [
                Scene(
                    1,
                    f"{RETURNS_DESK.group_id}: its consumers leave. The group is Empty, and its offsets expire in a minute.",
                    partial(self.consumers.leave, RETURNS_DESK),
                ),
                *self._descriptions(),
                *self._administration(),
                Scene(
                    78,
                    f"{NEWSLETTER.group_id}: its consumer leaves. The group's offsets will expire after this demo.",
                    partial(self.consumers.leave, NEWSLETTER),
                ),
            ],
            Scene(
                _EXPIRY_AT_S,
                f"{RETURNS_DESK.group_id} has been Empty for a minute: its offsets expire, and the log keeps the reason.",
            ),
        )

    def _descriptions(self) -> list[Scene]:
        return [
            Scene(
                4,
                "Kafka's own tool lists the groups: the gateway responds.",
                partial(self.through_gateway.run, "--list", "--state"),
            ),
            Scene(
                9,
                "The same request to the broker itself: it knows none of them.",
                partial(self.at_broker.run, "--list", "--state"),
            ),
            Scene(
                14,
                f"{CONSOLE.group_id} is Kafka's console consumer, a program in Java: offsets by the job, ends by the broker.",
                partial(self._run, "--describe", CONSOLE),
            ),
            Scene(
                17,
                f"{CHECKOUT.group_id} gets two more consumers: its partitions (KIP-848) are reassigned one by one.",
                partial(self.consumers.join, CHECKOUT),
            ),
            Scene(
                29,
                f"Which member of {CHECKOUT.group_id} has which partitions?",
                partial(self._run, "--describe", CHECKOUT, "--members", "--verbose"),
            ),
        ]

    def _administration(self) -> list[Scene]:
        return [
            Scene(
                34,
                f"{LOYALTY_POINTS.group_id}: a new version is deployed, which reads orders, and payments no more. An "
                "administrator deletes the group's offsets of payments.",
                self._deploy_loyalty_points,
            ),
            Scene(
                44,
                f"{SPRING_SALE.group_id}: the sale is over. An administrator deletes the group, and {BILLING.group_id} by "
                "mistake: that group has members.",
                self._delete_spring_sale,
            ),
            Scene(
                54,
                f"{RECOMMENDATIONS.group_id} is stopped, and an administrator sets it back to the first record.",
                self._reset_recommendations,
            ),
            Scene(
                64,
                f"{RECOMMENDATIONS.group_id} is started again, and reads everything once more.",
                partial(self.consumers.join, RECOMMENDATIONS),
            ),
        ]

    def _deploy_loyalty_points(self) -> None:
        self.consumers.leave(LOYALTY_POINTS)
        self.consumers.join(LOYALTY_POINTS._replace(topics=("orders",)))
        self._run("--delete-offsets", LOYALTY_POINTS, "--topic", "payments")

    def _delete_spring_sale(self) -> None:
        self.consumers.leave(SPRING_SALE)
        self._run("--delete", SPRING_SALE, "--group", BILLING.group_id)

    def _reset_recommendations(self) -> None:
        self.consumers.leave(RECOMMENDATIONS)
        [topic] = RECOMMENDATIONS.topics
        words = ("--topic", topic, "--to-earliest", "--execute")
        self._run("--reset-offsets", RECOMMENDATIONS, *words)

    def _run(self, action: str, application: Application, *more: str) -> None:
        self.through_gateway.run(action, "--group", application.group_id, *more)

    def close(self, page: ClosingPage) -> list[tuple[str, str]]:
        return [("Your cluster", f"{page.program} gateway --bootstrap-server HOST:PORT")]


def _groups_tool(servers: str) -> Tool:
    command = tool_command(CONSUMER_GROUPS, "--bootstrap-server", servers)
    return Tool(f"kafka-consumer-groups --bootstrap-server {servers}", tuple(command))
