"""Which groups have to know about which topics, and what they were told: kept beside the checkpoint, for the next run.

What a batch says is kept before Spark commits the batch: a group says it once, and its state then holds it for said. It is
kept after the batch's responses, as clients wait for those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TypeAlias

from msgspec import Struct, json

from group_coordinator.runtime.outputs import TopicNeedLine
from group_coordinator.streaming.checkpoint.journal import Files, Journal

KnownTopics: TypeAlias = dict[str, tuple[str, int]]
"""Topic names with topic ids and hashes (core/topics/hash.py)."""

_FOLDER = "topics/interests"


class Interest(Struct, frozen=True):
    """What a group subscribes to, and what it was told at last; None: nothing yet."""

    names: tuple[str, ...]
    regexes: tuple[str, ...]
    told: KnownTopics | None = None


_decode_need = json.Decoder(TopicNeedLine).decode


class TopicInterests:
    """The interests of all groups; the sinks add to them in one thread, the agent reads them in another.

    To keep what changes costs what changes, not what there is.
    """

    def __init__(self, files: Files) -> None:
        self._journal = Journal(files, _FOLDER, Interest)
        self._lock = Lock()
        self._interests = self._journal.read()
        self._changed = set(self._interests)

    @property
    def are_there(self) -> bool:
        """Whether any group has one."""
        with self._lock:
            return bool(self._interests)

    def note(self, lines: Sequence[str]) -> None:
        """Take over what the operator says groups need, in order; it may say the same again."""
        needs = [_decode_need(line) for line in lines]
        with self._lock:
            for need in needs:
                self._note(need)
            noted = {need.group_id for need in needs}
            self._changed |= noted
            self._journal.keep(noted, self._interests)

    def _note(self, need: TopicNeedLine) -> None:
        known = self._interests.pop(need.group_id, None)
        if need.names or need.regexes:
            told = None if known is None or _is_the_same(known, need) else known.told
            self._interests[need.group_id] = Interest(need.names, need.regexes, told)

    def take_changed(self) -> dict[str, Interest | None]:
        """The interests that have changed since the last call, at first all; None: the group has none any more."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return {group_id: self._interests.get(group_id) for group_id in changed}

    def told(self, news: Mapping[str, KnownTopics]) -> None:
        """Remember what groups were told, unless their interest is gone."""
        with self._lock:
            still_there = news.keys() & self._interests.keys()
            for group_id in still_there:
                interest = self._interests[group_id]
                self._interests[group_id] = Interest(
                    interest.names, interest.regexes, news[group_id]
                )
            if still_there:
                self._journal.keep(still_there, self._interests)


def _is_the_same(known: Interest, need: TopicNeedLine) -> bool:
    """A group says the same again because it has not been told, or has forgotten."""
    return (known.names, known.regexes) == (need.names, need.regexes)
