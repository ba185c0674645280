"""Indexes over all members of a group, so that a large group need not look at each of them.

Ten thousand members that join with one event each must not look at all ten thousand each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import attrgetter
from typing import TypeVar

from msgspec import Struct, field

from group_coordinator.core.model.classic_member import ClassicMember, Protocol

Name = TypeVar("Name")


def add_to_counts(counts: dict[Name, int], names: Iterable[Name], change: int = 1) -> None:
    """Add to the count of each name, and remove names whose count is zero."""
    for name in names:
        number = counts.get(name, 0) + change
        if number:
            counts[name] = number
        else:
            del counts[name]


_NAME = attrgetter("name")

Key = TypeVar("Key", str, int)
Found = TypeVar("Found")


def _names(member: ClassicMember) -> tuple[str, ...]:
    return tuple(map(_NAME, member.protocols))


def _lists_of_names(members: Iterable[ClassicMember]) -> Counter[tuple[str, ...]]:
    # Lists of equal length are counted together: there may be thousands.
    by_length: dict[int, list[tuple[Protocol, ...]]] = {}
    for member in members:
        by_length.setdefault(len(member.protocols), []).append(member.protocols)
    found: Counter[tuple[str, ...]] = Counter()
    for length, lists in by_length.items():
        names = iter([protocol.name for protocols in lists for protocol in protocols])
        # One iterator, repeated: zip takes the names of a list at a time.
        found.update(zip(*[names] * length, strict=True))
    return found


def _sorted(found: dict[Key, Found]) -> dict[Key, Found]:
    return found if len(found) < 2 else {key: found[key] for key in sorted(found)}  # noqa: PLR2004


class MemberIndex(Struct, array_like=True):
    """Numbers that follow from the members and change with each of them. A group state has them too, sorted."""

    joined: int = 0
    """The number of members with a pending JoinGroup."""
    supporters: dict[str, int] = field(default_factory=dict)
    """The number of listings of a protocol by its name. As in Kafka, a name that a member lists twice counts twice."""
    static_ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Member ids by instance id, in the order of the members. Only logs of other coordinators have several."""
    rebalance_timeouts_ms: dict[int, int] = field(default_factory=dict)
    """The number of members with a rebalance timeout."""

    @classmethod
    def of(cls, members: Iterable[ClassicMember]) -> MemberIndex:
        """Make the index of these members, for many of them faster than one by one."""
        members = list(members)
        index = cls(len([member for member in members if member.awaiting_join is not None]))
        for names, number in _lists_of_names(members).items():
            index._count_protocols(names, number)
        for member in [member for member in members if member.group_instance_id is not None]:
            index._add_static(member)
        # Counted and not only the longest: when its member leaves, the next longest must be known.
        index.rebalance_timeouts_ms = Counter([member.rebalance_timeout_ms for member in members])
        return index

    def copy(self) -> MemberIndex:
        """Return an index that can be changed without changing this index."""
        return MemberIndex(
            self.joined,
            self.supporters.copy(),
            self.static_ids.copy(),
            self.rebalance_timeouts_ms.copy(),
        )

    def sorted(self) -> MemberIndex:
        """Return an equal index in an order that does not depend on the order of the members."""
        return MemberIndex(
            self.joined,
            _sorted(self.supporters),
            _sorted(self.static_ids),
            _sorted(self.rebalance_timeouts_ms),
        )

    def add(self, member: ClassicMember) -> None:
        """Add a member behind all others."""
        self._count(member, 1)
        if member.group_instance_id is not None:
            self._add_static(member)

    def remove(self, member: ClassicMember) -> None:
        self._count(member, -1)
        instance_id = member.group_instance_id
        if instance_id is None:
            return
        others = tuple(i for i in self.static_ids[instance_id] if i != member.member_id)
        if others:
            self.static_ids[instance_id] = others
        else:
            del self.static_ids[instance_id]

    def replace(self, old: ClassicMember, new: ClassicMember) -> None:
        """Replace a member by a member with the same ids."""
        self.joined += (new.awaiting_join is not None) - (old.awaiting_join is not None)
        if new.protocols is not old.protocols:
            self._count_protocols(_names(old), -1)
            self._count_protocols(_names(new), 1)
        if new.rebalance_timeout_ms != old.rebalance_timeout_ms:
            add_to_counts(self.rebalance_timeouts_ms, (old.rebalance_timeout_ms,), -1)
            add_to_counts(self.rebalance_timeouts_ms, (new.rebalance_timeout_ms,))

    def _add_static(self, member: ClassicMember) -> None:
        instance_id = member.group_instance_id or ""
        others = self.static_ids.get(instance_id, ())
        self.static_ids[instance_id] = (*others, member.member_id)

    def _count(self, member: ClassicMember, change: int) -> None:
        self.joined += change * (member.awaiting_join is not None)
        self._count_protocols(_names(member), change)
        add_to_counts(self.rebalance_timeouts_ms, (member.rebalance_timeout_ms,), change)

    def _count_protocols(self, names: tuple[str, ...], change: int) -> None:
        add_to_counts(self.supporters, names, change)
