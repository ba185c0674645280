"""A batch's context that kills the Python worker it arrives in, once, in the middle of a batch."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from group_coordinator.runtime import group_call
from group_coordinator.runtime.update_group import UpdateContext, update_group

_CALLS_BEFORE = 3


@dataclass(frozen=True)
class DeadlyContext(UpdateContext):
    """The worker dies in its fourth call for a group; a file says that it has happened."""

    marker: str = ""

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)  # type: ignore[misc] # a frozen dataclass with slots has it
        if not Path(self.marker).exists():
            group_call.update_group = _dying(self.marker)


def _dying(marker: str) -> Any:
    calls: list[object] = []

    def update(*given: Any) -> Any:
        calls.append(given)
        if len(calls) > _CALLS_BEFORE and not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return update_group(*given)

    return update
