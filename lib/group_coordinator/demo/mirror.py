"""The show of the mirror: ordinary consumers, without any knowledge of it, are read through `__consumer_offsets`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from rich.console import RenderableType

from group_coordinator import settings
from group_coordinator.cli.query_output import print_table
from group_coordinator.cli.shared_options import duration_ms_of
from group_coordinator.clients import sql_tables
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.what_if import what_if
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
from group_coordinator.demo.screen import ClosingPage, PanelLine, panel, shown
from group_coordinator.demo.stage import Administrator, Stage, Tool, program, typed_name
from group_coordinator.demo.story import DemoOptions, Scene, Shop
from group_coordinator.local.jars import python_module

GIFT_CARDS = "gift-cards"
"""A topic that an administrator deletes."""
WAREHOUSE = Application("warehouse", ("shipments",), client="kafka-python")
MOBILE_PUSH = Application("mobile-push", ("reviews",))
CUSTOMER_CARE = Application("customer-care", ("payments", GIFT_CARDS))
APPLICATIONS = (
    *(RETURNS_DESK, WAREHOUSE, MOBILE_PUSH, RECOMMENDATIONS, LOYALTY_POINTS, SPRING_SALE),
    *(CUSTOMER_CARE, NEWSLETTER, BILLING, SEARCH_INDEX, ACCOUNTING),
    # Reads more slowly than the shop writes: its lag grows.
    Application("sales-report", ("orders",), protocol="consumer", records_a_poll=2),
    Application("checkout", ("orders", "payments"), 3, protocol="consumer"),
    Application("fraud-check", ("payments",), 2, protocol="consumer"),
)

_BROKER_PROPERTIES = {
    # The shortest retention that a broker accepts; by default it is a week.
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
    # No member should wait for a rebalance.
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "1000",
}
# A minute after the first departure, which is in the first second, and after the broker's next check.
_EXPIRY_AT_S = 62
_OTHER_RETENTION = "15s"
_CHECK_EVERY_SECOND = "offsets.retention.check.interval.ms=1000"

_STATUSES = {
    "OK": ("green", "keep up"),
    "WARN": ("yellow", "lag grows"),
    "STALL": ("magenta", "commit the same"),
    "STOP": ("red", "commit no more"),
    "REWIND": ("cyan", "went back"),
    "AHEAD": ("blue", "are ahead"),
    "HELD": ("white", "are held back"),
}
_TROUBLES = {
    "WARN": "The tables say WARN of {}: its lag grows.",
    "STALL": "The tables say STALL of {}: it commits the same offsets again and again.",
    "STOP": "The tables say STOP of {}: there is more to read, and it commits no more.",
    "LOSS": "The tables say LOSS of {}: records were removed before it read them.",
    "REWIND": "The tables say REWIND of {}: it went back.",
    "AHEAD": "The tables say AHEAD of {}: the log ends before the committed offset.",
}
_GROUP_STATUS = (
    "SELECT group_id, status, total_lag FROM group_status "
    "WHERE status IS NOT NULL AND {mine} ORDER BY group_id"
)
# A continuous reader that commits every second may look slow for a moment.
_LOOKS_TO_BELIEVE = 4


@dataclass(frozen=True, slots=True)
class MirrorFigures:
    """Figures from the tables; None or empty: nothing yet."""

    tables: tables_watch.TableCounts = tables_watch.NO_COUNTS
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Groups by status."""
    total_lag: int | None = None
    behind_s: float | None = None
    """The age of the newest record in the log."""

    def panels(self) -> Sequence[RenderableType]:
        counts = {name: self.statuses.get(name, 0) for name in _STATUSES}
        groups = [
            PanelLine(name, str(count), _STATUSES[name][1], _STATUSES[name][0])
            for name, count in counts.items()
        ]
        tables = [
            PanelLine("Records", shown(self.tables.record_count), "of __consumer_offsets"),
            PanelLine("Newest", shown(self.behind_s, " s"), "old, in the log"),
            PanelLine("Offsets", shown(self.tables.offset_count), "committed and kept"),
            PanelLine("Lag", shown(self.total_lag), "records, in all"),
            PanelLine("Lost", shown(self.tables.lost_count), "offsets so far"),
        ]
        title = f"{sum(self.statuses.values())} groups by status"
        return panel(title, groups), panel("Tables", tables)

    def line(self) -> str | None:
        if self.tables.record_count is None:
            return None
        groups = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        return (
            f"groups: {groups or '-'}; lag {shown(self.total_lag)} records; {self.tables.record_count} records of "
            f"__consumer_offsets, the newest {shown(self.behind_s, ' s')} old; {shown(self.tables.offset_count)} offsets, "
            f"{shown(self.tables.lost_count)} lost"
        )


class MirrorShow:
    """Consumers in trouble, an administrator at work, and `group-coordinator mirror`, which reads the traces of both."""

    title = "A mirror of __consumer_offsets: consumer groups as tables"
    introduction: tuple[str, ...] = (
        "Ordinary consumers read a shop's topics: one is slow, one is stuck.",
        "An administrator deletes a topic, and resets a group by mistake.",
        "The mirror reads __consumer_offsets into Delta tables: they undo it.",
        "At the end SQL shows which group lost which offsets, and why.",
    )
    cluster = "shop"
    questions: Sequence[tables_watch.ViewQuestion] = (
        *(tables_watch.LOST, tables_watch.RESET, tables_watch.STATUS, tables_watch.TIME_LAG),
        *(tables_watch.NEXT, tables_watch.LIFE, tables_watch.READERS),
    )

    def __init__(self, options: DemoOptions) -> None:
        self._options = options
        self.group_prefix = options.prefix
        self.figures = MirrorFigures()
        self._is_undone = False
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        """Consecutive looks that found a group in a status, up to the last look."""

    def open(self, stage: Stage) -> None:
        self._stage = stage
        stage.fetch_jars()
        self._servers = stage.start_broker(_BROKER_PROPERTIES)
        stage.folder.write_settings(
            {
                "bootstrap.servers": self._servers,
                "cluster.id": self.cluster,
                "compaction.interval.ms": 3_000,
                "mirror.interval.ms": 1_000,
                "mirror.positions.interval.ms": 3_000,
            }
        )
        self.shop = self._open_shop(stage)
        self.consumers = ShopConsumers(self._servers, self._options.prefix)
        stage.resources.callback(self.consumers.close)
        stage.tasks.append(self.consumers.check)
        self.administrator: Administrator = stage.administrator(kafka_tool(self._servers))
        config = ("--config", str(stage.folder.settings))
        own_tool = Tool(typed_name(stage.folder), tuple(program()), config)
        self.restorer: Administrator = stage.administrator(own_tool)
        for application in APPLICATIONS:
            self.consumers.join(application)
        stage.board.say(
            f"{len(APPLICATIONS)} groups with {self.consumers.count} consumers begin to read a shop's topics: librdkafka and "
            "kafka-python, both protocols, one in transactions."
        )
        while not self.consumers.have_all_read:
            stage.tick()
        news = (tables_watch.LOSSES, tables_watch.RESETS)
        tables = str(stage.folder.tables)
        self.watch = tables_watch.TablesReader(tables, stage.board.add, news, self._options.prefix)
        stage.resources.enter_context(tables_watch.running(lambda: self.look(datetime.now(UTC))))

    def _open_shop(self, stage: Stage) -> Shop:
        topics = {**PARTITION_COUNTS, GIFT_CARDS: 2}
        counts = {self._options.named(topic): count for topic, count in topics.items()}
        shop = Shop(Connection(self._servers), counts, self._options.named(LEDGER_TOPIC))
        groups = [self._name(application) for application in APPLICATIONS]
        stage.leave_unchanged(Connection(self._servers), shop.topics, groups)
        stage.resources.callback(shop.close)
        shop.open()
        return shop

    def start_mirror(self) -> None:
        stage = self._stage
        file = stage.folder.settings
        servers = ("--bootstrap-server", self._servers)
        words = ("mirror", *servers, "--cluster", self.cluster, "--with-compaction", "--config")
        typed = (typed_name(stage.folder), *words, stage.folder.shown(file))
        stage.board.add(f"$ {' '.join(typed)}")
        stage.start("mirror", "The mirror", program(*words, str(file)), stage.folder.scratch)

    def look(self, now: datetime) -> None:
        self.watch.look()
        found = self.watch.counts
        if found.newest_at is None:
            return
        self._undo_reset()
        groups = self.watch.rows(_GROUP_STATUS)
        self.figures = MirrorFigures(
            found,
            Counter(group["status"] for group in groups),
            sum(group["total_lag"] or 0 for group in groups),
            max(0.0, (now - found.newest_at).total_seconds()),
        )
        states = [(group["group_id"], group["status"]) for group in groups]
        self._in_a_row = Counter({state: self._in_a_row[state] + 1 for state in states})
        for group_id, status in states:
            if status in _TROUBLES and self._in_a_row[group_id, status] >= _LOOKS_TO_BELIEVE:
                self.watch.add_once((group_id, status), _TROUBLES[status].format(group_id))

    def scenes(self) -> list[Scene]:
        name, consumers = self._name, self.consumers
        sentence = f"{name(RETURNS_DESK)} has been Empty for a minute: the broker removes its offsets, without a word."
        # A cluster of the user keeps its offsets for days.
        is_own = self._options.bootstrap_servers is None
        expiry = [Scene(_EXPIRY_AT_S, sentence)] if is_own else []
        return self._options.scaled(
            [
                Scene(
                    1,
                    f"{name(RETURNS_DESK)}: both members leave. The group is Empty, and the cluster will remove its offsets "
                    "when their retention is over.",
                    partial(consumers.leave, RETURNS_DESK),
                ),
                Scene(
                    2,
                    "The mirror starts, as a user starts it: Spark Structured Streaming. It also reads the records before its "
                    "start.",
                    self.start_mirror,
                ),
                Scene(
                    4,
                    f"{name(WAREHOUSE)}: its database is down. Its member stays in the group, reads nothing, and commits the "
                    "same offsets again and again.",
                    partial(consumers.pause, WAREHOUSE),
                ),
                Scene(
                    7,
                    f"{name(MOBILE_PUSH)}: its application hangs. Kafka receives heartbeats, but no commits.",
                    partial(consumers.hang, MOBILE_PUSH),
                ),
                *self._administration(),
                Scene(
                    85,
                    f"{name(NEWSLETTER)}: its member leaves. The group's offsets will expire after this demo.",
                    partial(consumers.leave, NEWSLETTER),
                ),
            ],
            *expiry,
        )

    def _administration(self) -> list[Scene]:
        name = self._name
        return [
            Scene(
                12,
                f"{name(RECOMMENDATIONS)} is stopped, and an administrator sets it back to the first record.",
                partial(self._reset, RECOMMENDATIONS, "clicks"),
            ),
            Scene(
                22,
                f"{name(RECOMMENDATIONS)} is started again, and reads everything once more. From now on no tool of Kafka "
                "knows its offsets before the reset.",
                partial(self.consumers.join, RECOMMENDATIONS),
            ),
            Scene(
                30,
                f"{name(LOYALTY_POINTS)}: a new version is deployed, which reads orders, and payments no more. An "
                "administrator deletes the group's offsets of payments.",
                self._deploy_loyalty_points,
            ),
            Scene(
                38,
                f"{name(SPRING_SALE)}: the sale is over. An administrator deletes the group, and {name(BILLING)} by mistake: "
                "that group has members.",
                self._delete_spring_sale,
            ),
            Scene(
                46,
                f"An administrator deletes the topic {self._options.named(GIFT_CARDS)}, which {name(CUSTOMER_CARE)} reads.",
                self._delete_gift_cards,
            ),
            Scene(
                50,
                f"{name(SEARCH_INDEX)} is stopped, and an administrator sets it back to the first record: by mistake.",
                partial(self._reset, SEARCH_INDEX, "reviews"),
            ),
        ]

    def _reset(self, application: Application, topic: str) -> None:
        self.consumers.leave(application)
        words = ("-g", self._name(application), *self._partitions_of(topic))
        self.administrator.run("groups", "reset-offsets", *words, "-s", "earliest")

    def _undo_reset(self) -> None:
        """Undo the reset that was a mistake once the tables have it."""
        group = self._name(SEARCH_INDEX)
        if not self._is_undone and self.watch.rows(first_reset(group))[0]["at"] is not None:
            self._is_undone = True
            sentence = (
                f"The tables have the offsets of {group} before its reset: `restore` commits them."
            )
            self.watch.add_once((group,), sentence)
            self.restorer.run("restore", "--group", group, "--before-reset", "--execute")

    def _deploy_loyalty_points(self) -> None:
        self.consumers.leave(LOYALTY_POINTS)
        self.consumers.join(LOYALTY_POINTS._replace(topics=("orders",)))
        words = ("-g", self._name(LOYALTY_POINTS), *self._partitions_of("payments"))
        self.administrator.run("groups", "delete-offsets", *words)

    def _delete_spring_sale(self) -> None:
        self.consumers.leave(SPRING_SALE)
        for application in (SPRING_SALE, BILLING):
            self.administrator.run("groups", "delete", "-g", self._name(application))

    def _delete_gift_cards(self) -> None:
        topic = self._options.named(GIFT_CARDS)
        self.shop.give_up(topic)
        self.administrator.run("topics", "delete", "-t", topic)

    def _partitions_of(self, topic: str) -> list[str]:
        here, count = self._options.named(topic), PARTITION_COUNTS[topic]
        return [word for number in range(count) for word in ("-p", f"{here}:{number}")]

    def _name(self, application: Application) -> str:
        return self._options.named(application.group_id)

    def close(self, page: ClosingPage) -> list[tuple[str, str]]:
        config = settings.load(page.folder.settings).coordinator
        group = self._name(RECOMMENDATIONS)
        [found] = sql_tables.rows(page.tables, first_reset(group))
        # The story has the reason if the administrator could not reset the group.
        if found["at"] is not None:
            at = found["at"] - timedelta(seconds=1)
            as_of = ("--as-of", at.isoformat(timespec="seconds"))
            sql = offsets_of(group)
            text = f"Which offsets did {group} have in the tables, a second before its reset?"
            page.question(text, "sql", *as_of, *page.shown_tables, sql)
            print_table(sql_tables.query(page.tables, sql, AsOfTime(at, config)))
        groups = [self._name(NEWSLETTER), group]
        page.question(
            f"Which offsets of {' and '.join(groups)} would a retention of {_OTHER_RETENTION} have removed?",
            *("what-if", "--retention", _OTHER_RETENTION, "--set", _CHECK_EVERY_SECOND),
            *(word for each in groups for word in ("--group", each)),
            *page.shown_tables,
        )
        changed = [_CHECK_EVERY_SECOND, f"offsets.retention.ms={duration_ms_of(_OTHER_RETENTION)}"]
        config = settings.load(page.folder.settings, changed).coordinator
        print_table(what_if(page.tables, AsOfTime(datetime.now(UTC), config), groups))
        words = "mirror --bootstrap-server HOST:PORT --cluster NAME --with-compaction"
        return [("Your cluster", f"{page.program} {words}")]


def kafka_tool(servers: str) -> Tool:
    """Return the command line of kafka-python, which uses Kafka's own admin API."""
    command = tuple(python_module("kafka.admin", "-b", servers))
    return Tool(f"kafka-python admin -b {servers}", command)


def first_reset(group_id: str) -> str:
    return f"SELECT min(at) AS at FROM audit WHERE change = 'reset' AND group_id = '{group_id}'"  # noqa: S608 - a name of our own


def offsets_of(group_id: str) -> str:
    return (
        "SELECT group_id, topic, partition, committed_offset, commit_timestamp\n"
        f"FROM offsets WHERE group_id = '{group_id}'\nORDER BY topic, partition"
    )
