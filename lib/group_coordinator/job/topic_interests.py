"""Which groups have to know about which topics, and what they were told: kept beside the checkpoint, for the next run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock
from typing import TypeAlias

from msgspec import Struct, json

from group_coordinator.runtime.output_lines import TopicNeedLine

KnownTopics: TypeAlias = dict[str, tuple[str, int]]
"""Topic names with topic ids and hashes (core/topics/hash.py)."""


class Interest(Struct, frozen=True):
    """What a group subscribes to, and what it was told at last; None: nothing yet."""

    names: tuple[str, ...]
    regexes: tuple[str, ...]
    told: KnownTopics | None = None


_decode_need = json.Decoder(TopicNeedLine).decode
_decode_all = json.Decoder(dict[str, Interest]).decode


class TopicInterests:
    """The interests of all groups; the sinks add to them in one thread, the agent reads them in another."""

    def __init__(self, load: Callable[[], str | None], save: Callable[[str], None]) -> None:
        self._save = save
        self._lock = Lock()
        text = load()
        self._interests = {} if text is None else _decode_all(text)
        self._changed = set(self._interests)

    def note(self, lines: Sequence[str]) -> None:
        """Take over what the operator says groups need, in order; it may say the same again."""
        with self._lock:
            for need in map(_decode_need, lines):
                self._note(need)
            self._keep()

    def _note(self, need: TopicNeedLine) -> None:
        self._changed.add(need.group_id)
        known = self._interests.pop(need.group_id, None)
        if need.names or need.regexes:
            told = None if known is None or _is_the_same(known, need) else known.told
            self._interests[need.group_id] = Interest(need.names, need.regexes, told)

    def all(self) -> dict[str, Interest]:
        """The interests by group id, as they are now."""
        with self._lock:
            return dict(self._interests)

    def take_changed(self) -> set[str]:
        """The groups whose interest has changed since the last call."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return changed

    def put_back(self, changed: Collection[str]) -> None:
        """What take_changed gave was not dealt with."""
        with self._lock:
            self._changed |= set(changed)

    def told(self, news: Mapping[str, KnownTopics]) -> None:
        """Remember what groups were told, unless their interest is gone."""
        with self._lock:
            for group_id, told in news.items():
                interest = self._interests.get(group_id)
                if interest is not None:
                    self._interests[group_id] = Interest(interest.names, interest.regexes, told)
            self._keep()

    def _keep(self) -> None:
        self._save(json.encode(self._interests).decode())


def _is_the_same(known: Interest, need: TopicNeedLine) -> bool:
    """A group says the same again because it has not been told, or has forgotten."""
    return (known.names, known.regexes) == (need.names, need.regexes)
