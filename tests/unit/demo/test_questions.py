from __future__ import annotations

import pytest

from group_coordinator.demo import mirror
from group_coordinator.demo.coordinator.show import CoordinatorShow
from group_coordinator.demo.gateway import GatewayShow
from group_coordinator.demo.mirror import MirrorShow
from group_coordinator.demo.tables_watch import LIFE, ViewQuestion

ALL = dict.fromkeys((*CoordinatorShow.questions, *MirrorShow.questions, *GatewayShow.questions))


@pytest.mark.parametrize("prefix", ["", "demo-1-"])
@pytest.mark.parametrize("question", ALL, ids=lambda question: question.text)
def test_a_query_has_three_lines_that_a_shell_can_quote(
    question: ViewQuestion, prefix: str
) -> None:
    sql = question.sql(prefix)

    assert len(sql.splitlines()) == 3
    assert "coordinator_log" not in sql
    assert not set('"$`\\!') & set(sql + mirror.offsets_of("g"))


def test_on_a_shared_cluster_the_prefix_selects_the_groups() -> None:
    [_, view, _] = LIFE.sql("demo-1-").splitlines()

    assert view == (
        "FROM group_timeline WHERE group_id = 'demo-1-returns-desk' AND starts_with(group_id, 'demo-1-')"
    )
