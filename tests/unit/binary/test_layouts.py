from __future__ import annotations

import pytest

from group_coordinator.binary.layouts import message_layout
from group_coordinator.binary.notation import (
    Message,
    float64,
    int32,
    int32s,
    string,
    struct,
    structs,
    uuid,
)

MESSAGE = Message(
    "Example",
    range(5),
    3,
    (
        string("old", until=1),
        string("name", nullable_since=2),
        structs("parts", since=1)[int32("part"), int32("epoch", since=2, default=-1)],
        string("client", compact=False),
        int32s("numbers", since=4, nullable=True, tag=1),
        struct("leader", since=3, tag=0)[int32("id", default=-1), float64("load"), uuid("place")],
    ),
)


@pytest.mark.parametrize(
    ("version", "plain", "tagged", "tags_of_others"),
    [
        (0, ["old", "name", "client"], [], (1, 0)),
        (1, ["old", "name", "parts", "client"], [], (1, 0)),
        (2, ["name", "parts", "client"], [], (1, 0)),
        (3, ["name", "parts", "client"], ["leader"], (1,)),
        (4, ["name", "parts", "client"], ["leader", "numbers"], ()),
    ],
)
def test_a_version_has_its_fields(
    version: int, plain: list[str], tagged: list[str], tags_of_others: tuple[int, ...]
) -> None:
    layout = message_layout(MESSAGE, version)

    assert [field.name for field in layout.plain] == plain
    assert [field.name for field in layout.tagged] == tagged
    assert layout.tags_of_other_versions == tags_of_others
    assert layout.flexible == (version >= 3)


def test_a_struct_has_the_fields_of_the_version_too() -> None:
    in_1, in_2 = (message_layout(MESSAGE, version).defaults() for version in (1, 2))

    assert in_1 == {"old": "", "name": "", "parts": [], "client": ""}
    assert in_2 == {"name": "", "parts": [], "client": ""}
    parts = [message_layout(MESSAGE, version).plain[-2].struct for version in (1, 2)]
    assert [part and part.defaults() for part in parts] == [{"part": 0}, {"part": 0, "epoch": -1}]


def test_a_struct_has_the_defaults_of_its_fields() -> None:
    assert message_layout(MESSAGE, 4).defaults() == {
        "name": "",
        "parts": [],
        "client": "",
        "leader": {"id": -1, "load": 0, "place": "A" * 22},
        "numbers": [],
    }


def test_null_and_compact_lengths_depend_on_the_version() -> None:
    fields = {
        version: {field.name: field for field in message_layout(MESSAGE, version).fields}
        for version in range(5)
    }

    assert [fields[version]["name"].nullable for version in range(5)] == [False] * 2 + [True] * 3
    assert fields[4]["numbers"].nullable
    assert [fields[version]["name"].compact for version in range(5)] == [False] * 3 + [True] * 2
    assert not any(fields[version]["client"].compact for version in range(5))
