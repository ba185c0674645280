"""The expectations are what OpenJDK 17 and the tables of Kafka 4.4.0 give."""

from __future__ import annotations

import pytest

from group_coordinator.core.kafka_order import (
    grown_table_size,
    new_hash_map_order,
    partition_set_order,
    string_hash,
    string_hashes,
    table_size_for,
    table_size_of_copy,
    timeline_order,
    topic_spot,
    uuid_words,
)
from tests.unit.core.assignors.groups import CLICKS, ORDERS, PAYMENTS


@pytest.mark.parametrize(
    ("text", "hash_code"),
    [
        ("", 0),
        ("hello", 99162322),
        ("uniform", -286926412),
        ("\U0001f41f", 1772418),
        ("\ud83d", 55357),
        ("0123456789" * 7, 355609315),
    ],
)
def test_hash_of_a_string(text: str, hash_code: int) -> None:
    assert string_hash(text) == hash_code % (1 << 32)


@pytest.mark.parametrize("length", [1, 63, 64, 65, 128, 129])
@pytest.mark.parametrize("characters", ["ab9_-Z", "aä"])
def test_hash_of_a_string_of_any_length_and_script(characters: str, length: int) -> None:
    text = (characters * length)[:length]
    expected = 0
    for character in text:
        expected = (31 * expected + ord(character)) % (1 << 32)
    assert string_hash(text) == expected


@pytest.mark.parametrize("suffix", ["", "-" * 64, "ä", "\U0001f41f"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 100])
def test_hashes_of_many_strings(count: int, suffix: str) -> None:
    texts = [f"{'~' * (number % 40)}{number}{suffix}" for number in range(count)]

    assert string_hashes(texts) == [string_hash(text) for text in texts]


@pytest.mark.parametrize(
    ("topic_id", "spot"), [(ORDERS, 1656175641), (PAYMENTS, 3737155770), (CLICKS, 2992123594)]
)
def test_spot_of_a_topic(topic_id: str, spot: int) -> None:
    assert topic_spot(topic_id) == spot


def test_a_uuid_compares_as_two_signed_numbers() -> None:
    assert uuid_words(ORDERS) == (-6721799814188630016, 0)
    assert sorted([CLICKS, PAYMENTS, ORDERS], key=uuid_words) == [ORDERS, PAYMENTS, CLICKS]


@pytest.mark.parametrize(
    ("capacity", "size"), [(0, 1), (1, 1), (2, 2), (3, 4), (5, 8), (12, 16), (16, 16), (17, 32)]
)
def test_a_table_of_a_capacity(capacity: int, size: int) -> None:
    assert table_size_for(capacity) == size


@pytest.mark.parametrize(
    ("count", "size"), [(0, 16), (1, 16), (11, 16), (12, 32), (13, 32), (24, 64), (25, 64)]
)
def test_a_table_that_is_a_copy(count: int, size: int) -> None:
    assert table_size_of_copy(count) == size


def test_a_table_grows_when_more_than_three_in_four_buckets_would_be_taken() -> None:
    assert grown_table_size(16, 12) == 16
    assert grown_table_size(16, 13) == 32
    assert grown_table_size(1, 1) == 2
    assert grown_table_size(1, 4) == 8


def test_a_table_into_which_texts_were_put() -> None:
    assert new_hash_map_order(["z", "nope", "y"]) == ["nope", "y", "z"]
    assert new_hash_map_order(["zz", "BB", "nope", "Aa"]) == ["zz", "BB", "Aa", "nope"]


def test_a_set_of_partitions() -> None:
    assert partition_set_order([0, 2, 15]) == [0, 2, 15]
    assert partition_set_order([3, 10, 16, 17, 19, 20, 33]) == [16, 17, 33, 3, 19, 20, 10]
    assert partition_set_order([5, 65536, 65553]) == [65553, 65536, 5]
    assert partition_set_order([*range(11), 16, 17, 18]) == [*range(11), 16, 17, 18]


@pytest.mark.parametrize(
    ("count", "order"),
    [
        (2, [2, 1]),
        (5, [5, 2, 4, 1, 3]),
        (6, [5, 2, 4, 1, 6, 3]),
        (12, [5, 12, 2, 7, 4, 11, 9, 1, 6, 3, 10, 8]),
    ],
)
def test_a_timeline_map(count: int, order: list[int]) -> None:
    members = [f"m{number}" for number in range(1, count + 1)]

    assert timeline_order(members, room=count + 1) == [f"m{number}" for number in order]
