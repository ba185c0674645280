from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from group_coordinator import core
from tests.mutations.flip import Flip
from tests.mutations.flips import FLIPS

CORE = Path(core.__path__[0])


@pytest.mark.parametrize("flip", FLIPS, ids=lambda flip: flip.name)
def test_a_flip_changes_one_place_of_the_core(flip: Flip) -> None:
    source = (CORE / flip.file).read_text(encoding="utf-8")

    assert source.count(flip.old) == 1
    assert ast.dump(ast.parse(flip.of(source))) != ast.dump(ast.parse(source))


def test_flips_are_told_apart_by_their_names() -> None:
    assert {
        name: count for name, count in Counter(flip.name for flip in FLIPS).items() if count > 1
    } == {}


@pytest.mark.parametrize("old", ["b", "c"])
def test_a_flip_without_exactly_one_place_is_refused(old: str) -> None:
    flip = Flip("a rotten flip", "coordinator.py", old, "x")

    with pytest.raises(ValueError, match=r"a rotten flip: [02] places in coordinator\.py"):
        flip.of("a b b")
