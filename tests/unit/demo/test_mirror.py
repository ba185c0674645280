"""The mirror's show without Kafka and Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import write_deltalake

from group_coordinator.clients import sql_tables
from group_coordinator.demo import tables_watch
from group_coordinator.demo.consumers import Application
from group_coordinator.demo.mirror import MirrorShow, first_reset
from group_coordinator.demo.story import MIRROR, Board, DemoOptions, Story
from group_coordinator.demo.tables_watch import LOSSES, RESETS, TablesReader, ViewQuestion
from tests.support.group_history import GroupHistory, tables_of
from tests.unit.demo.positions import samples

START = datetime(1970, 1, 1, tzinfo=UTC)
SHARED = DemoOptions(MIRROR, 105, keep=False, bootstrap_servers="kafka:9092", prefix="demo-1-")
OWN = DemoOptions(MIRROR, 105, keep=False)
SHORT = DemoOptions(MIRROR, 20, keep=False)
EXPIRATION = "returns-desk has been Empty for a minute"


@dataclass
class Diary:
    """Consumers, shop, mirror and administrator, which note their calls."""

    lines: list[str] = field(default_factory=list)

    def leave(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} leaves")

    def join(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} joins {' '.join(application.topics)}")

    def pause(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} pauses")

    def hang(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} hangs")

    def give_up(self, topic: str) -> None:
        self.lines.append(f"{topic} gets no more records")

    def run(self, *arguments: str) -> None:
        self.lines.append(" ".join(arguments))

    def start_mirror(self) -> None:
        self.lines.append("the mirror starts")


def played(options: DemoOptions) -> tuple[list[str], str]:
    diary, board = Diary(), Board(100)
    show: Any = MirrorShow(options)
    show.consumers = show.shop = show.administrator = diary
    show.start_mirror = diary.start_mirror
    story = Story(show.scenes(), board)
    while not story.is_over:
        story.tick(options.duration_s)
    return diary.lines, "\n".join(happening.sentence for happening in board.frame().story)


def test_the_story_on_a_shared_cluster() -> None:
    lines, sentences = played(SHARED)

    assert lines == [
        "returns-desk leaves",
        "the mirror starts",
        "warehouse pauses",
        "mobile-push hangs",
        "recommendations leaves",
        (
            "groups reset-offsets -g demo-1-recommendations -p demo-1-clicks:0 -p demo-1-clicks:1 "
            "-p demo-1-clicks:2 -s earliest"
        ),
        "recommendations joins clicks",
        "loyalty-points leaves",
        "loyalty-points joins orders",
        "groups delete-offsets -g demo-1-loyalty-points -p demo-1-payments:0 -p demo-1-payments:1",
        "spring-sale leaves",
        "groups delete -g demo-1-spring-sale",
        "groups delete -g demo-1-billing",
        "demo-1-gift-cards gets no more records",
        "topics delete -t demo-1-gift-cards",
        "search-index leaves",
        "groups reset-offsets -g demo-1-search-index -p demo-1-reviews:0 -p demo-1-reviews:1 -s earliest",
        "newsletter leaves",
    ]
    assert EXPIRATION not in sentences


def test_offsets_expire_on_our_own_broker_in_a_long_story() -> None:
    long, sentences = played(OWN)
    short, short_sentences = played(SHORT)

    assert short == long
    assert EXPIRATION in sentences
    assert EXPIRATION not in short_sentences


def history(name: str) -> GroupHistory:
    return GroupHistory(
        name,
        cluster_id="shop",
        group_initial_rebalance_delay_ms=0,
        offsets_retention_ms=60_000,
        offsets_retention_check_interval_ms=1_000,
    )


def commit(group: GroupHistory, offsets: dict[int, int], member: str) -> None:
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": offsets}, member, generation)


def returns_desk(prefix: str) -> GroupHistory:
    """A group that leaves after a second: its offsets expire a minute later, and its name with them."""
    group = history(f"{prefix}returns-desk")
    [member] = group.form()
    commit(group, {0: 7, 1: 8}, member)
    group.sleep(1_000)
    group.leave(member)
    group.sleep(60_000)
    return group


def recommendations(prefix: str) -> GroupHistory:
    return reset_group(f"{prefix}recommendations")


def reset_group(name: str) -> GroupHistory:
    """A group that is reset to the first record while it is Empty."""
    group = history(name)
    [member] = group.form()
    commit(group, {0: 40}, member)
    group.leave(member)
    group.sleep(2_000)
    group.commit({"orders": {0: 0}})
    group.sleep(59_000)
    return group


def slow() -> GroupHistory:
    """A group that commits one record a second, of five."""
    group = GroupHistory("slow", cluster_id="shop")
    for second in range(12):
        group.commit({"orders": {0: second}})
        group.sleep(1_000)
    return group


@pytest.fixture(params=["", "demo-1-"], ids=["own broker", "shared cluster"])
def prefix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tables(prefix: str, tmp_path: Path) -> Path:
    others = [returns_desk("other-")] if prefix else []
    return tables_of(tmp_path, returns_desk(prefix), recommendations(prefix), *others)


def rows(tables: Path, prefix: str, question: ViewQuestion) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in sql_tables.rows(str(tables), question.sql(prefix))]


def at(second: int) -> datetime:
    return START + timedelta(seconds=second)


def test_the_answers_are_about_the_groups_of_the_demo(tables: Path, prefix: str) -> None:
    assert [row[:6] for row in rows(tables, prefix, tables_watch.LOST)] == [
        (at(60), f"{prefix}recommendations", "orders", 1, "offset-expired", False),
        (at(61), f"{prefix}returns-desk", "orders", 2, "offset-expired", False),
    ]
    assert rows(tables, prefix, tables_watch.RESET) == [
        (at(2), f"{prefix}recommendations", "orders", "reset", 1, 40, 0)
    ]
    assert [row[:3] for row in rows(tables, prefix, tables_watch.LIFE)] == [
        (at(0), "created", 0),
        (at(0), "rebalanced", 1),
        (at(1), "emptied", 0),
        (at(61), "expired", 0),
    ]
    [found] = sql_tables.rows(str(tables), first_reset(f"{prefix}recommendations"))
    assert found["at"] == at(2)


def test_the_next_expirations(tmp_path: Path) -> None:
    group = history("newsletter")
    [member] = group.form()
    commit(group, {0: 1, 1: 2}, member)
    group.sleep(5_000)
    group.leave(member)

    assert rows(tables_of(tmp_path, group), "", tables_watch.NEXT) == [
        (at(65), "newsletter", "orders", 2)
    ]


def test_a_reset_by_mistake_is_undone_once_the_tables_have_it(tmp_path: Path) -> None:
    diary, news = Diary(), list[str]()
    show: Any = MirrorShow(OWN)
    show.restorer = diary

    def look(*groups: GroupHistory) -> None:
        tables = tables_of(tmp_path / str(len(groups)), slow(), *groups)
        show.watch = TablesReader(str(tables), news.append, (RESETS,))
        show.look(at(65))

    look()
    before = [*diary.lines]
    look(reset_group("search-index"))
    show.look(at(66))

    assert before == []
    assert diary.lines == ["restore --group search-index --before-reset --execute"]
    assert news == [
        "The tables say: an administrator set search-index back by 40 records of orders.",
        "The tables have the offsets of search-index before its reset: `restore` commits them.",
    ]


def test_a_status_is_news_once_it_lasts(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, recommendations(""), slow())
    ends = samples(START, [20 + 5 * second for second in range(12)])
    write_deltalake(tables / "topic_positions", ends, mode="append")
    news: list[str] = []
    show = MirrorShow(OWN)
    show.watch = TablesReader(str(tables), news.append, (LOSSES, RESETS))
    for _ in range(3):
        show.look(at(65))
    first = [*news]
    for _ in range(3):
        show.look(at(65))

    assert first == [
        "The tables say: recommendations lost its offsets of orders (1): offset-expired.",
        "The tables say: an administrator set recommendations back by 40 records of orders.",
    ]
    assert news == [*first, "The tables say WARN of slow: its lag grows."]
    figures = show.figures
    assert (figures.statuses, figures.total_lag, figures.behind_s) == ({"WARN": 1}, 64, 5)
    assert (figures.tables.offset_count, figures.tables.lost_count) == (1, 1)
