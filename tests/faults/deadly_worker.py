"""Operator settings that kill the Python worker they are used in, once, in the middle of a batch."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from group_coordinator.runtime.group_call import OperatorSettings
from group_coordinator.runtime.update_group import UpdateContext

_CALLS_BEFORE = 3
_calls: list[int] = []


@dataclass(frozen=True)
class DeadlyOperatorSettings(OperatorSettings):
    """The worker dies in its fourth call for a group; a file says that it has happened."""

    marker: str

    def context_at(self, batch_time_ms: int) -> UpdateContext:
        """What every call for a group asks first."""
        _calls.append(batch_time_ms)
        if len(_calls) > _CALLS_BEFORE and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return OperatorSettings.context_at(self, batch_time_ms)
