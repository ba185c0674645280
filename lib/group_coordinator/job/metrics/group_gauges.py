"""Kafka's gauges of groups and offsets, from the table groups and what groups say of their rebalances.

Source: GroupCoordinatorMetrics in Kafka 4.4, with the names that the JMX exporter's usual configurations make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from prometheus_client.metrics_core import Metric

from group_coordinator.core.model.states import ClassicState, ConsumerState
from group_coordinator.job.metrics.counts import KAFKAS
from group_coordinator.job.metrics.families import gauge

_MANAGER = "kafka_coordinator_group_groupmetadatamanager"
_CLASSIC = "classic"
_STATES = {
    _CLASSIC: tuple(state.value for state in ClassicState),
    "consumer": tuple(state.value for state in ConsumerState),
    "share": ("Empty", "Stable", "Dead"),
    "streams": ("Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead"),
}
"""By type. Only a mirrored cluster has groups of the last two."""


def group_families(groups: pa.Table, rebalancing: Mapping[str, str]) -> Iterator[Metric]:
    """Gauges of the groups that exist.

    Args:
        groups: group_id, group_type, state and offset_count of each.
        rebalancing: by group id the state of the classic groups that are between two generations: the log has none for it.
    """
    counts = _counted(groups, rebalancing)
    by_type = [((kind,), sum(counts[kind, state] for state in _STATES[kind])) for kind in _STATES]
    yield gauge(f"{KAFKAS}_group_count", "Groups by type", ("protocol",), by_type)
    for kind, states in _STATES.items():
        points = [((state,), counts[kind, state]) for state in states]
        meaning = f"Groups of type {kind} by state"
        yield gauge(f"{KAFKAS}_{kind}_group_count", meaning, ("state",), points)
    offsets = pc.sum(groups["offset_count"]).as_py() or 0
    yield gauge(f"{KAFKAS}_offset_count", "Committed offsets", (), [((), offsets)])
    yield gauge(f"{_MANAGER}_numoffsets", "Committed offsets", (), [((), offsets)])
    yield gauge(f"{_MANAGER}_numgroups", "Classic groups", (), [((), by_type[0][1])])
    for state in _STATES[_CLASSIC]:
        name = f"{_MANAGER}_numgroups{state.lower()}"
        yield gauge(name, f"Classic groups that are {state}", (), [((), counts[_CLASSIC, state])])


def _counted(groups: pa.Table, rebalancing: Mapping[str, str]) -> Counter[tuple[str, str]]:
    """How many groups there are by type and state; a classic group of which nothing is logged yet exists too."""
    counts = _by_type_and_state(groups)
    if not rebalancing:
        return counts
    named = pc.is_in(groups["group_id"], pa.array([*rebalancing], groups["group_id"].type))
    logged = groups.filter(named)
    is_classic = pc.equal(logged["group_type"], _CLASSIC)
    # It may have been upgraded since.
    others = {*logged.filter(pc.invert(is_classic))["group_id"].to_pylist()}
    counts -= _by_type_and_state(logged.filter(is_classic))
    counts.update((_CLASSIC, state) for group, state in rebalancing.items() if group not in others)
    return counts


def _by_type_and_state(groups: pa.Table) -> Counter[tuple[str, str]]:
    kinds = groups.group_by(["group_type", "state"]).aggregate([([], "count_all")])
    rows: list[dict[str, Any]] = kinds.to_pylist()
    return Counter({(row["group_type"], row["state"]): row["count_all"] for row in rows})
