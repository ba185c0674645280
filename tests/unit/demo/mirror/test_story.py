from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from group_coordinator.demo.board import Board
from group_coordinator.demo.mirror.cast import Application
from group_coordinator.demo.mirror.figures import MirrorFigures
from group_coordinator.demo.mirror.plan import MirrorPlan
from group_coordinator.demo.mirror.story import Storyteller
from group_coordinator.demo.scenes import Story


@dataclass
class Diary:
    """Everybody who acts: writes down what the story asks of them."""

    lines: list[str] = field(default_factory=list)

    def leave(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} leaves")

    def join(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} joins {' '.join(application.topics)}")

    def pause(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} pauses")

    def hang(self, application: Application) -> None:
        self.lines.append(f"{application.group_id} hangs")

    def give_up(self, topic: str) -> None:
        self.lines.append(f"nobody writes {topic}")

    def run(self, *arguments: str) -> None:
        self.lines.append(" ".join(arguments))

    def start_mirror(self) -> None:
        self.lines.append("the mirror starts")


def played(plan: MirrorPlan, until_s: float) -> tuple[list[str], Board[Any], Story]:
    diary: Any = Diary()
    board = Board(MirrorFigures(), 100, clock=lambda: 0.0)
    teller = Storyteller(plan, diary, diary, diary, diary.start_mirror)
    story = Story(teller.scenes(), board)
    story.tick(until_s)
    return diary.lines, board, story


def test_the_story_on_somebodys_cluster() -> None:
    plan = MirrorPlan(105, keep=False, bootstrap_servers="kafka:9092", prefix="demo-1-")
    lines, board, story = played(plan, 105)

    assert story.is_over
    assert lines == [
        "returns-desk leaves",
        "the mirror starts",
        "warehouse pauses",
        "mobile-push hangs",
        "recommendations leaves",
        (
            "groups reset-offsets -g demo-1-recommendations -p demo-1-clicks:0 -p demo-1-clicks:1 "
            "-p demo-1-clicks:2 -s earliest"
        ),
        "recommendations joins clicks",
        "loyalty-points leaves",
        "loyalty-points joins orders",
        "groups delete-offsets -g demo-1-loyalty-points -p demo-1-payments:0 -p demo-1-payments:1",
        "spring-sale leaves",
        "groups delete -g demo-1-spring-sale",
        "groups delete -g demo-1-billing",
        "nobody writes demo-1-gift-cards",
        "topics delete -t demo-1-gift-cards",
        "newsletter leaves",
    ]
    assert not any("for a minute" in told.sentence for told in board.frame().told)


def test_a_broker_of_our_own_lets_offsets_expire() -> None:
    _, board, _ = played(MirrorPlan(105, keep=False), 105)

    assert any(
        "returns-desk has been Empty for a minute" in told.sentence for told in board.frame().told
    )


def test_a_short_story_has_all_but_the_expiry() -> None:
    whole, *_ = played(MirrorPlan(105, keep=False), 105)
    lines, board, story = played(MirrorPlan(20, keep=False), 20)

    assert lines == whole
    assert story.is_over
    assert not any("for a minute" in told.sentence for told in board.frame().told)
