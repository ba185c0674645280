from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, msgpack

from group_coordinator.core.model.stored_values import StoredValues

KEYS = st.sampled_from("abcd")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, st.integers(0, 9)),
        st.tuples(st.just("delete"), KEYS),
        st.tuples(st.just("get"), KEYS),
        st.tuples(st.sampled_from(["all", "write", "write and read", "copy"])),
    )
)


def read(key: str, encoded: Raw) -> tuple[str, int]:
    return key, msgpack.decode(encoded, type=int)


def store(value: tuple[str, int]) -> Raw:
    return Raw(msgpack.encode(value[1]))


def stored(**numbers: int) -> StoredValues[tuple[str, int], Raw]:
    encoded = {key: Raw(msgpack.encode(number)) for key, number in numbers.items()}
    return StoredValues.unread(encoded, read)


def test_a_value_is_read_when_somebody_asks_and_only_once() -> None:
    asked: list[str] = []

    def noted(key: str, encoded: Raw) -> tuple[str, int]:
        asked.append(key)
        return read(key, encoded)

    values = StoredValues.unread({key: Raw(b"\x01") for key in "abc"}, noted)

    assert (list(values), "b" in values, "d" in values) == (["a", "b", "c"], True, False)
    assert len(values) == 3
    assert asked == []
    assert values["b"] is values["b"]
    assert asked == ["b"]
    assert list(values.items()) == [("a", ("a", 1)), ("b", ("b", 1)), ("c", ("c", 1))]
    assert asked == ["b", "a", "c"]


def test_only_what_was_replaced_is_stored_anew() -> None:
    values = stored(a=1, b=2)
    assert values["b"] == ("b", 2)
    values["a"] = ("a", 3)
    made: list[Any] = []

    def noted(value: tuple[str, int]) -> Raw:
        made.append(value)
        return store(value)

    for _ in range(2):
        encoded = {key: bytes(raw) for key, raw in values.stored(noted).items()}
        assert encoded == {"a": b"\x03", "b": b"\x02"}
    assert made == [("a", 3)]


def test_what_has_been_read_is_told_from_what_is_stored() -> None:
    values = stored(a=1, b=2)
    assert values["a"] == ("a", 1)
    values["c"] = ("c", 3)

    (_, a), (_, b), (_, c) = values.read_or_stored()

    assert (a, bytes(b), c) == (("a", 1), b"\x02", ("c", 3))


def test_what_is_not_there_is_not_there() -> None:
    values = stored(a=1)

    assert values.get("b") is None
    with pytest.raises(KeyError):
        values["b"]
    with pytest.raises(KeyError):
        del values["b"]


def taken(
    values: StoredValues[tuple[str, int], Raw], step: str
) -> StoredValues[tuple[str, int], Raw]:
    """The values after a step that leaves them as they are."""
    match step:
        case "all":
            assert len(values.values()) == len(values)
        case "write":
            values.stored(store)
        case "write and read":
            return StoredValues.unread(dict(values.stored(store)), read)
        case "copy":
            copied = values.copy()
            values.clear()
            return copied
    return values


@given(STEPS)
def test_they_are_as_a_dictionary(steps: list[tuple[Any, ...]]) -> None:
    values, expected = stored(a=1, b=2, c=3), {"a": ("a", 1), "b": ("b", 2), "c": ("c", 3)}
    for step in steps:
        match step:
            case "set", key, number:
                values[key] = expected[key] = (key, number)
            case "delete", key:
                assert values.pop(key, None) == expected.pop(key, None)
            case "get", key:
                assert values.get(key) == expected.get(key)
            case (name,):
                values = taken(values, name)
        assert list(values) == list(expected)
        assert len(values) == len(expected)
    assert list(values.values()) == list(expected.values())
    assert values == expected
