"""The coordinator's show: groups of both protocols, an upgrade, administrators, and offsets that expire."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from math import inf

from rich.console import RenderableType

from group_coordinator import settings
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.demo import tables_watch
from group_coordinator.demo.coordinator.applications import (
    LEADING,
    PARTITION_COUNTS,
    WITHOUT_MEMBERS,
    other_groups,
)
from group_coordinator.demo.coordinator.measures import (
    DASHBOARD,
    Latency,
    MeasuredChannel,
    Survey,
    on_the_dashboard,
    shown_of,
)
from group_coordinator.demo.coordinator.members import Arrivals, Shifts, ShopGroups, ShopTopics
from group_coordinator.demo.coordinator.scenes import CoordinatorScenes
from group_coordinator.demo.screen import ClosingPage, PanelLine, panel, shown
from group_coordinator.demo.stage import Stage, Tool, page_at, program
from group_coordinator.demo.story import DemoOptions, Scene, Shop
from group_coordinator.demo.tables_watch import (
    ENDS,
    LOSSES,
    NO_COUNTS,
    UPGRADES,
    StoryQuery,
    TableCounts,
    TablesReader,
    ViewQuestion,
    running,
)
from group_coordinator.local.broker import LOOPBACK, free_row

RETENTION_MS = 60_000
"""Retention of unprotected offsets; by default a cluster keeps them for a week."""
_ARRIVAL_S = 7.0
"""Time in which all members start."""
_PATIENCE_S = 35.0
"""Time after which the story begins even if a group has not finished its first rebalance."""
_FIRST_SHIFT_S, _SHIFT_S = 3.0, 4.0
"""Time of the first change of a member, and interval of the further changes."""

_NAMES = ", ".join(f"'{group.group_id}'" for group in LEADING)
REBALANCES = StoryQuery(
    "The tables say: {group_id} assigned its partitions again; members now: {number}.",
    f"""
SELECT group_id, at, members AS number FROM (
  SELECT *, lag(members) OVER (PARTITION BY group_id ORDER BY batch_id, seq) AS members_before
  FROM group_timeline WHERE what = 'rebalanced' AND group_id IN ({_NAMES})
) WHERE members <> members_before ORDER BY at, group_id
""",  # noqa: S608 - texts of our own
)

_STATES = {
    "Stable": ("green", "at work"),
    "Rebalancing": ("yellow", "assign partitions"),
    "Empty": ("blue", "no members"),
    "Dead": ("red", "expired, deleted"),
}
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
"""Two states of classic groups, two of consumer groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorFigures:
    """Figures from the coordinator's responses, the job and the tables; None or empty: not known yet."""

    states: Mapping[str, int] = field(default_factory=dict)
    """Groups by state, as the coordinator describes them."""
    member_count: int = 0
    consumer_group_count: int = 0
    """Groups whose members use the consumer protocol (KIP-848)."""
    requests_per_s: float | None = None
    latency: Latency | None = None
    batch_s: float | None = None
    tables: TableCounts = NO_COUNTS

    @property
    def shown_states(self) -> dict[str, int]:
        rebalancing = sum(self.states.get(state, 0) for state in _REBALANCING)
        states = {state: self.states.get(state, 0) for state in _STATES}
        return states | {"Rebalancing": rebalancing}

    def panels(self) -> Sequence[RenderableType]:
        counts, latency = self.shown_states, self.latency
        groups = [
            PanelLine(name, str(count), _STATES[name][1], _STATES[name][0])
            for name, count in counts.items()
        ]
        groups.append(PanelLine("Members", str(self.member_count), "of all groups"))
        coordinator = [
            PanelLine("Events", shown(self.requests_per_s, "/s"), "sent to the job"),
            PanelLine("Latency", shown(latency and latency.median_s, " s"), "half is faster"),
            PanelLine("", shown(latency and latency.p99_s, " s"), "99 % is faster"),
            PanelLine("Batch", shown(self.batch_s, " s"), "the job's last batch"),
            PanelLine("Offsets", shown(self.tables.offset_count), "committed and kept"),
            PanelLine("Expired", shown(self.tables.expired_count), "retention is over"),
            PanelLine("Deleted", shown(self.tables.deleted_count), "by an administrator"),
        ]
        title = f"{sum(counts.values())} groups, {self.consumer_group_count} of them by KIP-848"
        shares = [(count, _STATES[name][0]) for name, count in counts.items()]
        return panel(title, groups, shares), panel("Coordinator", coordinator)

    def line(self) -> str | None:
        if not self.states:
            return None
        groups = ", ".join(f"{count} {state}" for state, count in self.shown_states.items())
        latency, tables = self.latency, self.tables
        return (
            f"{groups} | {self.member_count} members | {self.consumer_group_count} groups by KIP-848; "
            f"{shown(self.requests_per_s)} events/s; responses in {shown(latency and latency.median_s)} s "
            f"(99 %: {shown(latency and latency.p99_s)} s); batch {shown(self.batch_s)} s; {shown(tables.offset_count)} offsets, "
            f"{shown(tables.expired_count)} expired, {shown(tables.deleted_count)} deleted"
        )


class CoordinatorShow:
    """Some fifty groups at work. With too few groups or members it raises TooFewMembersError."""

    title = "Kafka's group coordinator as a Spark job"
    introduction: tuple[str, ...] = (
        "Groups of a shop join, rebalance, commit and leave.",
        "Half of them use the new protocol (KIP-848); one is upgraded online.",
        "Offsets are kept for one minute only, so that some expire.",
        "At the end SQL shows which group lost which offsets, and why.",
    )
    cluster = "demo"
    group_prefix = ""
    questions: Sequence[ViewQuestion] = (
        *(tables_watch.LOST, tables_watch.NEXT, tables_watch.LIFE, tables_watch.DELETED),
        tables_watch.UPGRADED,
    )

    def __init__(self, options: DemoOptions, group_count: int, member_count: int) -> None:
        self._options = options
        self._others = other_groups(group_count, member_count)
        self._metrics_address = f"{LOOPBACK}:{free_row(1)}"
        self._next_shift_s = inf
        self.figures = CoordinatorFigures()

    def open(self, stage: Stage) -> None:
        stage.fetch_jars()
        connection = Connection(stage.start_broker())
        stage.folder.write_settings(
            settings_of(self._options, connection.bootstrap_servers, self._metrics_address)
        )
        counts = {self._options.named(name): count for name, count in PARTITION_COUNTS.items()}
        shop = Shop(connection, counts)
        stage.leave_unchanged(connection, shop.topics)
        stage.resources.callback(shop.close)
        shop.open()
        stage.board.say(
            "The job starts: Spark Structured Streaming, with its Delta tables. That takes a while. Prometheus may read "
            f"{self._metrics_url}"
        )
        job, channel = stage.start_job("User:shop")
        stage.start_sampling(shop.topics)
        with closing(Cluster(connection)) as cluster:
            topics = ShopTopics(counts, cluster.topic_ids(shop.topics), shop.end_of)
        self.prepare(stage, MeasuredChannel(channel), topics)
        stage.resources.enter_context(running(self.watch.look))
        begun_s = time.monotonic()
        while not self.have_arrived(time.monotonic() - begun_s):
            stage.tick()
        # The job finishes its batch while the other parts end.
        stage.resources.callback(job.ask_to_end)
        stage.resources.callback(self._keep_metrics)

    def prepare(self, stage: Stage, channel: MeasuredChannel, topics: ShopTopics) -> None:
        """Create all groups; none of their members has joined yet."""
        self._stage = stage
        self.channel = channel
        news = (LOSSES, ENDS, UPGRADES, REBALANCES)
        self.watch = TablesReader(str(stage.folder.tables), stage.board.add, news)
        config = ("--config", str(stage.folder.settings))
        tool = Tool("group-coordinator", tuple(program()), config)
        self._administrator = stage.administrator(tool)
        self._groups = ShopGroups(channel, topics, stage.board.add, self._options.prefix)
        all_groups = [*LEADING, *self._others, *WITHOUT_MEMBERS]
        self._arrivals = Arrivals(self._groups, all_groups)
        self._shifts = Shifts(self._groups, self._others)
        self._survey = Survey(channel)
        stage.tasks.append(self._step)
        stage.board.say(
            f"{len(all_groups)} groups get their start positions, and {sum(group.member_count for group in all_groups)} members "
            "join them. In a classic group a member assigns the partitions, in a group of the new protocol (KIP-848) the "
            "coordinator does. Then the members commit their positions."
        )

    def have_arrived(self, since_s: float) -> bool:
        """Let members join, and return True when all groups have finished their first rebalance, or after a time."""
        self._arrivals.tick(since_s / _ARRIVAL_S)
        expected = len(LEADING) + len(self._others)
        return self._survey.states["Stable"] >= expected or since_s > _PATIENCE_S

    def scenes(self) -> list[Scene]:
        self._next_shift_s = self.channel.clock() + _FIRST_SHIFT_S
        return CoordinatorScenes(self._options, self._groups, self._administrator).all()

    def _step(self) -> None:
        now_s, survey = self.channel.clock(), self._survey
        if now_s >= self._next_shift_s:
            self._next_shift_s += _SHIFT_S
            self._shifts.change()
        self._groups.tick(now_s)
        survey.tick(now_s, self._groups.group_ids)
        self.figures = CoordinatorFigures(
            states=survey.states,
            member_count=survey.member_count,
            consumer_group_count=survey.consumer_group_count,
            requests_per_s=self.channel.requests_per_s(),
            latency=self.channel.recent(),
            batch_s=self._stage.batch_s(),
            tables=self.watch.counts,
        )

    def _keep_metrics(self) -> None:
        page = page_at(self._metrics_url)
        if page is not None:
            self._stage.folder.metrics.write_text(page, encoding="utf-8")

    def close(self, page: ClosingPage) -> list[tuple[str, str]]:
        file = page.folder.metrics
        metrics = file.read_text(encoding="utf-8") if file.exists() else ""
        page.heading("The job's metrics at the end of the story")
        page.line(f"\nSome lines of {self._metrics_url}:\n")
        for line in shown_of(metrics):
            page.line(line)
        if DASHBOARD.exists():
            page.line(f"\n{on_the_dashboard(metrics)}: {page.folder.shown(DASHBOARD)}")
        lines = [
            ("The metrics", f"{page.folder.shown(page.folder.metrics)}: all metrics of the job")
        ]
        latency = self.channel.overall()
        if latency is not None:
            text = (
                f"{self.channel.sent_count} requests, half of the responses within {latency.median_s:.1f} s and 99 % within "
                f"{latency.p99_s:.1f} s"
            )
            lines.append(("Latency", text))
        if self._options.keep:
            lines += self._carry_on(page)
        return lines

    def _carry_on(self, page: ClosingPage) -> list[tuple[str, str]]:
        # No process is left, but broker and job can start from their files.
        folder = page.folder
        lines = []
        if self._options.bootstrap_servers is None:
            servers = settings.load(folder.settings).job.bootstrap_servers
            data, port = folder.shown(folder.broker), servers.rpartition(":")[2]
            lines.append(("Carry on", f"{page.program} broker start --data {data} --port {port}"))
        run = f"{page.program} run --with-compaction --config {folder.shown(folder.settings)}"
        return [*lines, ("" if lines else "Carry on", run)]

    @property
    def _metrics_url(self) -> str:
        return f"http://{self._metrics_address}/metrics"


def settings_of(
    options: DemoOptions, bootstrap_servers: str, metrics_address: str
) -> dict[str, str | int]:
    return {
        "bootstrap.servers": bootstrap_servers,
        "cluster.id": CoordinatorShow.cluster,
        "events.topic": options.named("group-events"),
        "responses.topic": options.named("group-responses"),
        "offsets.retention.ms": RETENTION_MS,
        "offsets.retention.check.interval.ms": 5_000,
        "compaction.interval.ms": 5_000,
        "metrics.listen": metrics_address,
        "metrics.interval.ms": 5_000,
    }
