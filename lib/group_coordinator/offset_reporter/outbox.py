"""Queue of commits, and their targets. It has the newest offsets of each group, however many batches have ended meanwhile.

The offsets and their groups come from Spark's progress of a query's Kafka sources. A target is the coordinator of a Kafka cluster, or
this project's job.
"""

from __future__ import annotations

import logging
import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.errors import for_code
from msgspec import DecodeError, ValidationError, convert, json
from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.core.model.errors import ErrorCode

Offsets: TypeAlias = dict[TopicPartition, int]
"""Next offset to read by partition, as a consumer commits it."""

_KAFKA = re.compile(r"Kafka\w*\[(?P<strategy>\w+)\[(?P<topics>.*)\]\]", re.DOTALL)
"""Spark's description of a Kafka source: KafkaV2[Subscribe[orders, refunds]]."""


class KafkaSource(NamedTuple):
    """Kafka source of a query, at the end of a batch."""

    strategy: str
    """Subscribe, SubscribePattern or Assign."""
    topics: str
    """Topics, a pattern, or partitions such as orders-0, as Spark describes them."""
    offsets: Offsets
    """Empty until the source has read records."""

    def has(self, option: str) -> bool:
        """Return True if the value of subscribe, subscribePattern or assign defines this source."""
        if self.strategy == "SubscribePattern":
            return option.strip() == self.topics
        described = _listed(self.topics)
        return described == _listed(option) or (
            self.strategy == "Assign" and described == _assigned(option)
        )

    def __str__(self) -> str:
        return f"{self.strategy}[{self.topics}]"


def kafka_sources(progress: StreamingQueryProgress) -> Iterator[KafkaSource]:
    """Yield the query's Kafka sources; other sources are left out."""
    for source in progress.sources:
        described = _KAFKA.fullmatch(source.description)
        # A description that does not match is another kind of source, or a Spark that this package does not know.
        if described:
            yield KafkaSource(described["strategy"], described["topics"], _offsets(source))


def merge(offsets: Offsets, more: Offsets) -> None:
    """Add the offsets of another source; of two offsets of a partition the lower counts."""
    for partition, offset in more.items():
        # Records up to the lower offset were read by both sources.
        offsets[partition] = min(offset, offsets.get(partition, offset))


def _listed(names: str) -> set[str]:
    return {name.strip() for name in names.split(",")} - {""}


def _assigned(option: str) -> set[str] | None:
    try:
        topics = json.decode(option, type=dict[str, list[int]])
    except DecodeError:
        return None
    return {f"{topic}-{number}" for topic, numbers in topics.items() for number in numbers}


def _offsets(source: SourceProgress) -> Offsets:
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in (_parsed(source.endOffset) or {}).items()
        for partition, offset in partitions.items()
    }


def _parsed(text: str) -> Any:
    # PySpark shows None as a word, and over Spark Connect the JSON as a Python literal.
    if text in {"null", "None"}:
        return None
    try:
        return json.decode(text)
    except DecodeError:
        return literal_eval(text)


PREFIX = "spark-"

Choice: TypeAlias = str | Mapping[str, str] | None
"""Group of a query; groups of its sources by their subscriptions; or None: the query is not reported."""

_log = logging.getLogger(__name__)


class GroupNames:
    """Group of each query: the user's choice, by query name or the id of a nameless query, or a default name.

    A source in the choice that the query does not have is logged once.
    """

    def __init__(self, chosen: Mapping[str, Choice]) -> None:
        try:
            self._chosen = convert(chosen, dict[str, str | dict[str, str] | None])
        except ValidationError as error:
            raise ValueError(f"group_ids = {chosen!r}: {error}") from error
        self._missing: set[tuple[str, str]] = set()

    def offsets(self, progress: StreamingQueryProgress) -> dict[str, Offsets]:
        """Offsets that a query has read, by group."""
        query = progress.name or str(progress.id)
        choice = self._chosen.get(query, f"{PREFIX}{query}")
        sources = [*kafka_sources(progress)]
        if isinstance(choice, Mapping):
            self._warn_of_missing(query, choice, sources)
        found: dict[str, Offsets] = {}
        for source in sources:
            group = _group_of(source, choice)
            # A source that has read nothing has no position to commit.
            if group is not None and source.offsets:
                merge(found.setdefault(group, {}), source.offsets)
        return found

    def _warn_of_missing(
        self, query: str, choice: Mapping[str, str], sources: Sequence[KafkaSource]
    ) -> None:
        for option in choice:
            is_new = (query, option) not in self._missing
            if is_new and not any(source.has(option) for source in sources):
                self._missing.add((query, option))
                described = ", ".join(map(str, sources)) or "none"
                _log.warning(
                    "query %r has no Kafka source %r; its Kafka sources: %s. In OffsetReporter's group_ids, give the value of a source's "
                    "option subscribe, subscribePattern or assign",
                    *(query, option, described),
                )


def _group_of(source: KafkaSource, choice: Choice) -> str | None:
    if not isinstance(choice, Mapping):
        return choice
    return next((group for option, group in choice.items() if source.has(option)), None)


_LONGEST_BACKOFF_S = 30.0
_LARGEST_POWER = 5


class OffsetsToCommit(NamedTuple):
    """Offsets to commit for a group."""

    group_id: str
    offsets: Offsets


@dataclass(slots=True, kw_only=True)
class _Group:
    news_from_s: float
    """Earliest time of the next commit of new offsets."""
    refresh_at_s: float
    by_run: dict[str, Offsets] = field(default_factory=dict)
    """Offsets by run of a query. The youngest run is the last, and wins where two runs have a partition."""
    is_news: bool = False
    is_hurried: bool = False
    """True until the hurried commit is tried."""
    failures: int = 0
    """Failures since the last successful commit."""

    @property
    def due_s(self) -> float:
        return self.news_from_s if self.is_news else self.refresh_at_s

    @property
    def offsets(self) -> Offsets:
        return {
            partition: offset for part in self.by_run.values() for partition, offset in part.items()
        }


class Outbox:
    """Newest offsets by group. One commit is in progress at a time; times are seconds of one clock that never goes back.

    After `refresh_s` unchanged offsets are committed again, so that the offsets of a query without input do not expire: a
    group without members is alive only by its commits.
    """

    def __init__(self, interval_s: float, refresh_s: float) -> None:
        self._interval_s = interval_s
        self._refresh_s = refresh_s
        self._groups: dict[str, _Group] = {}
        self._ended: set[str] = set()
        self._on_its_way: str | None = None

    def put(self, group_id: str, run: str, offsets: Offsets, now_s: float) -> None:
        """Set the offsets that a run of a query has read."""
        group = self._groups.setdefault(group_id, _Group(news_from_s=now_s, refresh_at_s=now_s))
        # Progress without new offsets needs no commit.
        if group.by_run.get(run) != offsets:
            group.by_run[run] = offsets
            group.is_news = True

    def take(self, now_s: float) -> OffsetsToCommit | None:
        """Return the commit that has been due for longest, or None. `sent` or `failed` must follow."""
        due = [(group.due_s, name) for name, group in self._groups.items() if group.due_s <= now_s]
        if not due:
            return None
        _, name = min(due)
        self._on_its_way = name
        self._groups[name].is_news = self._groups[name].is_hurried = False
        return OffsetsToCommit(name, self._groups[name].offsets)

    def next_s(self) -> float | None:
        """Time of the next due commit; None: there is none."""
        return min((group.due_s for group in self._groups.values()), default=None)

    def sent(self, now_s: float) -> None:
        """End the commit in progress, which succeeded."""
        group = self._arrived()
        group.failures = 0
        # From the end of the commit: a slow cluster gets fewer commits, not more.
        group.news_from_s = now_s + self._interval_s
        group.refresh_at_s = now_s + self._refresh_s
        # Offsets of ended runs stay until they are committed.
        self._forget_ended()

    def failed(self, now_s: float) -> None:
        """Retry the commit in progress with a back-off, as it failed or its result is unknown."""
        group = self._arrived()
        group.is_news = True
        group.failures += 1
        backoff_s = min(2.0 ** min(group.failures, _LARGEST_POWER), _LONGEST_BACKOFF_S)
        group.news_from_s = now_s + max(self._interval_s, backoff_s)

    def end(self, run: str) -> None:
        """End a run; its offsets are removed after they are committed."""
        self._ended.add(run)
        self._forget_ended()

    def hurry(self, now_s: float) -> None:
        """Make all new offsets due at once."""
        for group in self._groups.values():
            group.is_hurried = group.is_news
            group.news_from_s = min(group.news_from_s, now_s)

    @property
    def has_news(self) -> bool:
        """New offsets wait for a commit, or a commit is in progress."""
        return self._is_under_way or any(group.is_news for group in self._groups.values())

    @property
    def has_hurried(self) -> bool:
        """Some new offsets were not tried since `hurry`, or a commit is in progress."""
        return self._is_under_way or any(group.is_hurried for group in self._groups.values())

    @property
    def _is_under_way(self) -> bool:
        return self._on_its_way is not None

    def _arrived(self) -> _Group:
        name, self._on_its_way = self._on_its_way, None
        if name is None:
            raise RuntimeError("no commit is on its way")
        return self._groups[name]

    def _forget_ended(self) -> None:
        for name, group in list(self._groups.items()):
            if not group.is_news and name != self._on_its_way:
                for run in self._ended & group.by_run.keys():
                    del group.by_run[run]
                if not group.by_run:
                    del self._groups[name]
        self._ended &= {run for group in self._groups.values() for run in group.by_run}


CLIENT_ID = "group-coordinator-spark"


class OffsetsRejectedError(Exception):
    """The coordinator rejected some or all offsets of a group."""

    def __init__(self, codes: Mapping[TopicPartition, int]) -> None:
        names = sorted({for_code(code).__name__ for code in codes.values()})
        super().__init__(f"{', '.join(names)} for {_first_named(codes)}")
        self.group_has_members = ErrorCode.UNKNOWN_MEMBER_ID in codes.values()
        """Kafka accepts commits from outside only while a group has no members."""


class Target(Protocol):
    """Target of an administrator's commits, for a single thread."""

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit, and wait for the response. Raises OffsetsRejectedError: of the coordinator; KafkaError, ClientError: no response."""

    def close(self) -> None:
        """Disconnect; the next commit connects again."""


class KafkaTarget(LastingClient[KafkaAdminClient]):
    """Target that calls AlterConsumerGroupOffsets of Kafka's admin API."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, KafkaAdminClient, client_id=CLIENT_ID)

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit the offsets by Kafka's admin client."""
        # -1: Spark does not report the leader epoch.
        wanted = {one: OffsetAndMetadata(offset, "", -1) for one, offset in offsets.items()}
        response = self.opened().alter_group_offsets(group_id, wanted)
        _check({partition: error.errno for partition, error in response.items()})


class CoordinatorTarget:
    """Target that sends OffsetCommit events to the running job, with AdminClient's options."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._admin: AdminClient | None = None

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit the offsets by this project's admin client."""
        # Opened at the first commit, in the thread that commits: the user's job must not wait for Kafka.
        if self._admin is None:
            self._admin = AdminClient(**self._options)
        results = self._admin.alter_consumer_group_offsets(group_id, offsets)
        _check({one: getattr(error, "code", 0) for one, error in results.errors.items()})

    def close(self) -> None:
        """Disconnect; the next commit connects again."""
        # Dropped first: after an error of the close the next commit needs a new client.
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()


def _check(codes: Mapping[TopicPartition, int]) -> None:
    rejected = {partition: code for partition, code in codes.items() if code}
    if rejected:
        raise OffsetsRejectedError(rejected)


_SHOWN = 3


def _first_named(partitions: Mapping[TopicPartition, int]) -> str:
    """First partitions, in the form of Kafka's logs."""
    first = [f"{each.topic}-{each.partition}" for each in sorted(partitions)[:_SHOWN]]
    more = len(partitions) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")
