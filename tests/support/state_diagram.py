"""The state diagram of the README, drawn from the transition table: `python -m tests.support.state_diagram` prints it."""

from __future__ import annotations

import sys

from group_coordinator.core.model.classic_member import TRANSITIONS, ClassicState


def diagram() -> str:
    """Mermaid, as the README has it."""
    moves = [
        f"    {source} --> {target}"
        for source, targets in TRANSITIONS.items()
        for target in sorted(targets - {source})
    ]
    start = f"    [*] --> {ClassicState.EMPTY}"
    return "\n".join(["```mermaid", "stateDiagram-v2", start, *moves, "```"])


if __name__ == "__main__":
    sys.stdout.write(diagram() + "\n")
