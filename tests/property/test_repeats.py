"""Members that commit, hang up, wait too long and repeat, before a job that answers late: what they hear is the order of the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.job.delivery import Deduplication
from group_coordinator.gateway.job.job_channel import GroupRequest, PendingRequests
from group_coordinator.gateway.login import Caller
from tests.support.hand_clock import HandClock, by_hand

CALLER = Caller("billing", "/10.0.0.7", "User:billing", 1)
PATIENCE_S = 25.0


class Commit(NamedTuple):
    member: str
    offset: int


class HangUp(NamedTuple):
    member: str


class Answers(NamedTuple):
    """The job answers the next few."""

    count: int


class Passes(NamedTuple):
    seconds: float


Step = Commit | HangUp | Answers | Passes
MEMBERS = st.sampled_from(["m1", "m1", "m2", ""])
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.builds(Commit, MEMBERS, st.integers(1, 2)),
        st.builds(Commit, MEMBERS, st.integers(1, 2)),
        st.builds(HangUp, MEMBERS),
        st.builds(Answers, st.integers(1, 3)),
        st.builds(Passes, st.sampled_from([1.0, 2.0, 24.0, 25.0, 35.0, 60.0])),
    ),
    max_size=15,
)


class Sent(NamedTuple):
    commit: Commit
    at_step: int
    answer: asyncio.Future[Body]
    before: tuple[asyncio.Future[Body], ...]
    """What the member waited for then."""


class Story:
    """The job's log, and for each commit that was acknowledged its place there and when that was heard."""

    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.log: list[Commit] = []
        self.sent: list[Sent] = []
        self.heard: dict[asyncio.Future[Body], tuple[int, int]] = {}
        self.step = 0
        self.answered: list[int] = []
        """The steps of the job's answers, in the order of its log."""
        self._open = PendingRequests("job")
        self._repeats = Deduplication(self)

    def ask(self, question: GroupRequest) -> asyncio.Future[Body]:
        self.log.append(Commit(question.body["memberId"], question.body["offset"]))
        return self._open.add(question.timeout_s)[1]

    async def play(self, step: Step) -> None:
        self.step += 1
        match step:
            case Commit(member, offset):
                self._commit(step, {"groupId": "g", "memberId": member, "offset": offset})
            case HangUp(member):
                for answer in self._waited_for(member):
                    answer.cancel()
            case Answers(count):
                self._answer(count)
            case Passes(seconds):
                await self.clock.passes(seconds)
        await self.clock.passes(0)

    def _commit(self, commit: Commit, body: Body) -> None:
        before = self._waited_for(commit.member)
        answer = self._repeats.ask(GroupRequest("OffsetCommit", 9, "g", body, CALLER, PATIENCE_S))
        answer.add_done_callback(self._hear)
        self.sent.append(Sent(commit, self.step, answer, before))

    def _waited_for(self, member: str) -> tuple[asyncio.Future[Body], ...]:
        return tuple(
            sent.answer
            for sent in self.sent
            if sent.commit.member == member and not sent.answer.done()
        )

    def _answer(self, count: int) -> None:
        for place in range(len(self.answered), min(len(self.answered) + count, len(self.log))):
            self._open.answer(f"job-{place + 1}", {"place": place})
            self.answered.append(self.step)

    def is_of_others_and_late(self, sent: Sent, other: Sent, place: int) -> bool:
        """Whether the job's answer lay there when the repeat came: what other members have heard since is not before it."""
        is_late = self.answered[place] < other.at_step
        return sent.commit.member != other.commit.member and is_late

    def _hear(self, answer: asyncio.Future[Body]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self.heard[answer] = (answer.result()["place"], self.step)


@settings(max_examples=500)  # a repeat behind a later commit needs five steps in a row
@given(STEPS)
def test_what_was_acknowledged_was_made_in_the_order_in_which_it_was_asked(
    steps: list[Step],
) -> None:
    played([*steps, Answers(99)], check_order)


@given(STEPS, st.integers(0, 6))
def test_members_that_hang_up_and_repeat_in_order_have_all_made_once(
    steps: list[Step], answered: int
) -> None:
    commits: list[Step] = [step for step in steps if isinstance(step, Commit) and step.member][:6]
    away: list[Step] = [HangUp("m1"), HangUp("m2")]
    again: list[Step] = [*away, *commits, *away, Answers(answered), Passes(1.0), *commits]
    played([*commits, *again, Answers(99)], lambda story: check_once(story, commits))


def played(steps: list[Step], check: Callable[[Story], None]) -> None:
    async def scene(clock: HandClock) -> None:
        story = Story(clock)
        for step in steps:
            await story.play(step)
        check(story)

    by_hand(scene)


def check_order(story: Story) -> None:
    acknowledged = [
        (sent, *story.heard[sent.answer]) for sent in story.sent if sent.answer in story.heard
    ]
    for sent, place, heard_at in acknowledged:
        assert story.log[place] == sent.commit
        for other, other_place, _ in acknowledged:
            is_before = heard_at < other.at_step or sent.answer in other.before
            if is_before and not story.is_of_others_and_late(sent, other, other_place):
                assert place < other_place
    assert len({place for _, place, _ in acknowledged}) == len(acknowledged)


def check_once(story: Story, commits: list[Step]) -> None:
    assert story.log == commits
    assert len(story.heard) == len(commits)
