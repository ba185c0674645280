"""What the user asks of the demo, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

STORY_S = 100
"""How long the fleet is at work, unless the user wants more: enough to see everything expire that will."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How large a demo, how long, where, and what to leave behind.

    `bootstrap_servers` None: a broker of its own.
    """

    group_count: int
    member_count: int
    duration_s: int
    bootstrap_servers: str | None
    keep: bool
