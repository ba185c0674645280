from __future__ import annotations

import re
from itertools import product

import pytest

from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import TRANSITIONS, ClassicState, check_transition
from group_coordinator.core.model.errors import IllegalTransitionError
from group_coordinator.core.model.records import Reason
from group_coordinator.testing import GroupDriver

LEGAL = {
    ("Empty", "PreparingRebalance"),
    ("Empty", "Dead"),
    ("PreparingRebalance", "CompletingRebalance"),
    ("PreparingRebalance", "Empty"),
    ("PreparingRebalance", "Dead"),
    ("CompletingRebalance", "Stable"),
    ("CompletingRebalance", "PreparingRebalance"),
    ("CompletingRebalance", "Dead"),
    ("Stable", "PreparingRebalance"),
    ("Stable", "Dead"),
    ("Dead", "Dead"),
}
STATES = ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"]
ILLEGAL = set(product(STATES, STATES)) - LEGAL


def test_the_states_are_spelled_as_kafka_prints_them() -> None:
    assert [str(state) for state in ClassicState] == STATES


def test_the_table_says_all_moves() -> None:
    assert {(source, target) for source, targets in TRANSITIONS.items() for target in targets} == (
        LEGAL
    )


@pytest.mark.parametrize(("source", "target"), sorted(LEGAL))
def test_a_move_of_the_table_is_fine(source: str, target: str) -> None:
    check_transition(ClassicState(source), ClassicState(target))


@pytest.mark.parametrize(("source", "target"), sorted(ILLEGAL))
def test_any_other_move_is_a_defect(source: str, target: str) -> None:
    message = f"a group in state {source} cannot become {target}"
    with pytest.raises(IllegalTransitionError, match=re.escape(message)):
        check_transition(ClassicState(source), ClassicState(target))


def test_a_group_makes_no_other_move() -> None:
    rebalance = Rebalance(ClassicGroup(), 1_000, GroupDriver().config, Reason.JOIN)

    with pytest.raises(IllegalTransitionError, match="Empty cannot become Stable"):
        rebalance.transition_to(ClassicState.STABLE)

    rebalance.transition_to(ClassicState.PREPARING_REBALANCE)
    membership = rebalance.membership
    assert (membership.previous_state, membership.state_timestamp_ms) == ("Empty", 1_000)
