from __future__ import annotations

from functools import partial
from threading import Barrier

import pytest

from group_coordinator.local.jars import JarsError, fetch


def test_no_class_path_waits_for_another() -> None:
    all_here = Barrier(3)

    fetch(*[partial(all_here.wait, timeout=10)] * 3)


def test_what_cannot_be_had_is_told() -> None:
    def none() -> None:
        raise JarsError("The jars could not be fetched")

    with pytest.raises(JarsError, match="could not be fetched"):
        fetch(list, none, list)
