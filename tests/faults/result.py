"""What became of one fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.faults.outcome import Difference


@dataclass
class Result:
    """`runs` of the job; `lost` and `doubled` are counts of facts; every problem is a sentence."""

    fault: str
    runs: int
    lost: int
    doubled: int
    problems: list[str]
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return "; ".join(self.problems) or "as undisturbed"


def compared(fault: str, runs: int, difference: Difference, **figures: Any) -> Result:
    """The result of a run beside the undisturbed one."""
    return Result(
        fault,
        runs,
        difference.lost_count,
        difference.doubled_count,
        difference.problems(),
        figures,
    )
