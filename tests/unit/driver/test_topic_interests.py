"""What groups need to know, and what they were told, from run to run."""

from __future__ import annotations

import json
from typing import Any

from group_coordinator.driver.agents.topic_subscriptions import Interest, TopicInterests
from tests.support.files import FilesInMemory

ORDERS = {"orders": ("AAAAAAAAAAAAAAAAAAAAAQ", 17)}
JSON_OF_ORDERS = {"orders": ["AAAAAAAAAAAAAAAAAAAAAQ", 17]}


def need(group_id: str, *names: str, regexes: tuple[str, ...] = ()) -> str:
    return json.dumps({"group_id": group_id, "names": names, "regexes": regexes})


def contents(files: FilesInMemory) -> dict[str, Any]:
    return {path: json.loads(text) for path, text in files.texts.items()}


def test_a_batch_keeps_what_its_groups_need_and_nothing_else() -> None:
    files = FilesInMemory()
    interests = TopicInterests(files)

    interests.note([need("g", "orders"), need("h", regexes=("pay-.*",))])
    interests.note([need("g", "audits"), need("g", "audits", "orders")])

    assert contents(files) == {
        "topics/interests/0": {
            "g": {"names": ["orders"], "regexes": [], "told": None},
            "h": {"names": [], "regexes": ["pay-.*"], "told": None},
        },
        "topics/interests/1": {
            "g": {"names": ["audits", "orders"], "regexes": [], "told": None},
        },
    }
    assert TopicInterests(files).take_changed() == {
        "g": Interest(("audits", "orders"), ()),
        "h": Interest((), ("pay-.*",)),
    }


def test_what_groups_were_told_is_kept_unless_they_are_gone() -> None:
    files = FilesInMemory()
    interests = TopicInterests(files)
    interests.note([need("g", "orders"), need("h", "orders")])
    interests.note([need("h")])

    interests.received({"g": ORDERS, "h": ORDERS})
    interests.received({"h": ORDERS})

    assert contents(files)["topics/interests/2"] == {
        "g": {"names": ["orders"], "regexes": [], "told": JSON_OF_ORDERS}
    }
    assert len(files.texts) == 3
    assert TopicInterests(files).take_changed() == {"g": Interest(("orders",), (), ORDERS)}


def test_who_says_the_same_again_was_told_nothing_who_says_more_was() -> None:
    interests = TopicInterests(FilesInMemory())
    interests.note([need("g", "orders"), need("h", "orders")])
    interests.received({"g": ORDERS, "h": ORDERS})

    interests.note([need("g", "orders"), need("h", "audits", "orders")])

    assert interests.take_changed() == {
        "g": Interest(("orders",), (), None),
        "h": Interest(("audits", "orders"), (), ORDERS),
    }


def test_a_change_is_taken_once_and_so_is_an_end() -> None:
    interests = TopicInterests(FilesInMemory())
    assert not interests.are_there
    interests.note([need("g", "orders")])
    assert interests.are_there
    assert interests.take_changed() == {"g": Interest(("orders",), ())}
    assert interests.take_changed() == {}

    interests.received({"g": ORDERS})
    assert interests.take_changed() == {}
    interests.note([need("g")])
    assert interests.take_changed() == {"g": None}
    assert not interests.are_there
