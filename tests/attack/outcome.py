"""What an attack sent, what came back, and whether it got through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

Scenery = TypeVar("Scenery")


class Outcome(NamedTuple):
    """Every problem is a sentence; without one the attack was refused."""

    sent: str
    came_back: str
    problems: Sequence[str]

    @property
    def verdict(self) -> str:
        """For the table."""
        return f"GOT THROUGH: {'; '.join(self.problems)}" if self.problems else "refused"


class Attack(NamedTuple, Generic[Scenery]):
    """An attack and who can try it."""

    name: str
    attacker: str
    play: Callable[[Scenery], Outcome]


def table(outcomes: Sequence[tuple[Attack[Scenery], Outcome]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| attack | by | sent | came back | verdict |"
    yield "|---|---|---|---|---|"
    for attack, outcome in outcomes:
        cells = (
            attack.name,
            attack.attacker,
            outcome.sent,
            outcome.came_back,
            outcome.verdict,
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
