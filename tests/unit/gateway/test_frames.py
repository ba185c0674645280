"""However a stream is cut into pieces, its frames go where they belong, byte by byte."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.gateway.frames import FrameError, FrameFollower, FrameRoute

HEAD = 8
PASSED, COLLECTED, DROPPED, LONG_HEAD = 0, 1, 2, 3
COURSES = {
    PASSED: FrameRoute.PASS,
    COLLECTED: FrameRoute.COLLECT,
    DROPPED: FrameRoute.DROP,
    LONG_HEAD: FrameRoute.PASS,
}
NEEDED = 20
"""bytes of a frame with a long head."""


class Taker:
    """Does with a frame what its fifth byte says; it waits before some."""

    def __init__(self, waits_before: Sequence[int]) -> None:
        self.waits_before = set(waits_before)
        self.begun = 0
        self.passed_bytes = b""
        self.collected_frames: list[bytes] = []
        self.passed_frames = 0
        self.dropped_frames = 0

    def begin(self, data: memoryview, at: int) -> FrameRoute:
        if self.begun in self.waits_before:
            self.waits_before.discard(self.begun)
            return FrameRoute.WAIT
        kind = data[at + 4]
        if kind == LONG_HEAD and len(data) - at < NEEDED:
            return FrameRoute.MORE
        self.begun += 1
        return COURSES[kind]

    def pass_on(self, piece: memoryview) -> None:
        self.passed_bytes += piece

    def passed(self) -> None:
        self.passed_frames += 1

    def collected(self, frame: bytearray) -> None:
        self.collected_frames.append(bytes(frame))

    def dropped(self) -> None:
        self.dropped_frames += 1


def frame(kind: int, size: int) -> bytes:
    content = bytes([kind]) + bytes(n % 251 for n in range(size - 1))
    return len(content).to_bytes(4) + content


FRAMES = st.lists(
    st.builds(frame, st.sampled_from(sorted(COURSES)), st.sampled_from([16, 17, 40, 300])),
    max_size=12,
)
CUTS = st.lists(st.sampled_from([1, 3, 4, 7, 8, 9, 16, 20, 21, 64, 1_000]), min_size=1)


@given(frames=FRAMES, cuts=CUTS, waits=st.lists(st.integers(0, 11), max_size=4))
def test_frames_find_their_ways(frames: list[bytes], cuts: list[int], waits: list[int]) -> None:
    taker = Taker(waits)
    follower = FrameFollower(taker, HEAD, range(16, 1_000))
    stream, rest = b"".join(frames), b""
    number = 0
    while stream or follower.waits:
        cut = cuts[number % len(cuts)]
        number += 1
        rest, stream = rest + stream[:cut], stream[cut:]
        rest = rest[follower.feed(memoryview(rest)) :]

    assert rest == b""
    assert taker.passed_bytes == b"".join(f for f in frames if f[4] in (PASSED, LONG_HEAD))
    assert taker.collected_frames == [f for f in frames if f[4] == COLLECTED]
    assert taker.passed_frames == sum(f[4] in (PASSED, LONG_HEAD) for f in frames)
    assert taker.dropped_frames == sum(f[4] == DROPPED for f in frames)
    assert follower.is_between_frames


def test_small_frames_that_come_together_leave_in_one_piece() -> None:
    pieces = []

    class Pieces(Taker):
        def pass_on(self, piece: memoryview) -> None:
            pieces.append(bytes(piece))

    stream = frame(PASSED, 20) * 5 + frame(COLLECTED, 20) + frame(PASSED, 20) * 2
    FrameFollower(Pieces([]), HEAD, range(16, 1_000)).feed(memoryview(stream))

    assert pieces == [frame(PASSED, 20) * 5, frame(PASSED, 20) * 2]


def test_a_size_out_of_range_is_an_error_before_more_bytes_come() -> None:
    follower = FrameFollower(Taker([]), HEAD, range(16, 1_000))

    assert follower.feed(memoryview(b"\0\0\0")) == 0
    with pytest.raises(FrameError, match="a frame of 7 bytes"):
        follower.feed(memoryview(b"\0\0\0\7"))


def test_a_frame_in_single_bytes_is_looked_at_again_with_twice_as_many_or_all() -> None:
    looks: list[int] = []

    class Undecided(Taker):
        def begin(self, data: memoryview, at: int) -> FrameRoute:
            looks.append(min(len(data) - at, 104))
            return FrameRoute.MORE if looks[-1] < 104 else FrameRoute.PASS

    taker = Undecided([])
    follower = FrameFollower(taker, HEAD, range(16, 1_000))
    sent = frame(PASSED, 100) + frame(PASSED, 100)
    rest = b""
    for byte in sent:
        rest += bytes([byte])
        rest = rest[follower.feed(memoryview(rest)) :]

    assert looks == [8, 16, 32, 64, 104] * 2
    assert taker.passed_bytes == sent
