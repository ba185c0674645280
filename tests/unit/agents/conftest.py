from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.samples import sample
from tests.unit.agents.calls import HOSTILE

HOUR_S = 3_600


@pytest.fixture(scope="package")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A group that stops, is set back and loses an offset; one with a hostile name; one of the same name elsewhere."""
    billing = GroupHistory("billing", cluster_id="eu-1")
    [member] = billing.form()
    billing.commit({"orders": {0: 10, 1: 40}}, member, 1)
    billing.leave(member)
    billing.principal = "User:anna"
    billing.at(HOUR_S * 1_000)
    billing.commit({"orders": {0: 4}})
    billing.delete_offsets({"orders": [1]})
    hostile = GroupHistory(HOSTILE, cluster_id="eu-1")
    hostile.commit({"clicks": {0: 1}})
    other = GroupHistory("billing", cluster_id="eu-2")
    other.commit({"orders": {0: 9}})
    root = tables_of(tmp_path_factory.mktemp("tables"), billing, hostile, other)
    for at_s, start, end in ((0.5, 0, 2), (1_800, 0, 10), (HOUR_S + 60, 6, 16)):
        sample(root, at_s, "orders", {0: end}, start=start, cluster_id="eu-1")
    label(root, ("bill*", "payments", "gold", 60), cluster_id="eu-1")
    return root
