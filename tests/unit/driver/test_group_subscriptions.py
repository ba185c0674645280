"""What groups need to know, and what they were told, from run to run."""

from __future__ import annotations

import json
from typing import Any

from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscription, GroupSubscriptions
from tests.support.files import FilesInMemory

ORDERS = {"orders": ("AAAAAAAAAAAAAAAAAAAAAQ", 17)}
JSON_OF_ORDERS = {"orders": ["AAAAAAAAAAAAAAAAAAAAAQ", 17]}


def need(group_id: str, *names: str, regexes: tuple[str, ...] = ()) -> str:
    return json.dumps({"group_id": group_id, "names": names, "regexes": regexes})


def contents(files: FilesInMemory) -> dict[str, Any]:
    return {path: json.loads(text) for path, text in files.texts.items()}


def test_a_batch_keeps_what_its_groups_need_and_nothing_else() -> None:
    files = FilesInMemory()
    subscriptions = GroupSubscriptions(files)

    subscriptions.note([need("g", "orders"), need("h", regexes=("pay-.*",))])
    subscriptions.note([need("g", "audits"), need("g", "audits", "orders")])

    assert contents(files) == {
        "topics/interests/0": {
            "g": {"names": ["orders"], "regexes": [], "told": None},
            "h": {"names": [], "regexes": ["pay-.*"], "told": None},
        },
        "topics/interests/1": {
            "g": {"names": ["audits", "orders"], "regexes": [], "told": None},
        },
    }
    assert GroupSubscriptions(files).take_changed() == {
        "g": GroupSubscription(("audits", "orders"), ()),
        "h": GroupSubscription((), ("pay-.*",)),
    }


def test_what_groups_were_told_is_kept_unless_they_are_gone() -> None:
    files = FilesInMemory()
    subscriptions = GroupSubscriptions(files)
    subscriptions.note([need("g", "orders"), need("h", "orders")])
    subscriptions.note([need("h")])

    subscriptions.received({"g": ORDERS, "h": ORDERS})
    subscriptions.received({"h": ORDERS})

    assert contents(files)["topics/interests/2"] == {
        "g": {"names": ["orders"], "regexes": [], "told": JSON_OF_ORDERS}
    }
    assert len(files.texts) == 3
    assert GroupSubscriptions(files).take_changed() == {
        "g": GroupSubscription(("orders",), (), ORDERS)
    }


def test_who_says_the_same_again_was_told_nothing_who_says_more_was() -> None:
    subscriptions = GroupSubscriptions(FilesInMemory())
    subscriptions.note([need("g", "orders"), need("h", "orders")])
    subscriptions.received({"g": ORDERS, "h": ORDERS})

    subscriptions.note([need("g", "orders"), need("h", "audits", "orders")])

    assert subscriptions.take_changed() == {
        "g": GroupSubscription(("orders",), (), None),
        "h": GroupSubscription(("audits", "orders"), (), ORDERS),
    }


def test_a_change_is_taken_once_and_so_is_an_end() -> None:
    subscriptions = GroupSubscriptions(FilesInMemory())
    assert not subscriptions.are_there
    subscriptions.note([need("g", "orders")])
    assert subscriptions.are_there
    assert subscriptions.take_changed() == {"g": GroupSubscription(("orders",), ())}
    assert subscriptions.take_changed() == {}

    subscriptions.received({"g": ORDERS})
    assert subscriptions.take_changed() == {}
    subscriptions.note([need("g")])
    assert subscriptions.take_changed() == {"g": None}
    assert not subscriptions.are_there
