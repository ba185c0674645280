"""The table of suites, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.peers.suite import Case, Outcome, Suite


class Ran(NamedTuple):
    """A suite and what came of it; None: it did not run there."""

    suite: Suite
    direct: Sequence[Case] | None
    through: Sequence[Case] | None
    trouble: str = ""
    """Why it did not run, or not to its end."""


def compared(direct: Sequence[Case], through: Sequence[Case]) -> list[Case]:
    """What ran through us; a test that said something else there than at the broker has failed."""
    said = {case.name: case.said for case in direct}
    return [
        case
        if case.said == said.get(case.name, case.said)
        else case._replace(outcome=Outcome.FAILED, why=_difference(said[case.name], case.said))
        for case in through
    ]


def _difference(direct: Sequence[str], through: Sequence[str]) -> str:
    lost = [line for line in direct if line not in through]
    more = [line for line in through if line not in direct]
    return f"the broker: {lost}, through us: {more}"


def worse(ran: Ran) -> Iterator[Case]:
    """What fails through us and not at the broker, or passes there and is not even tried through us."""
    direct = _outcomes(ran.direct)
    for case in ran.through or ():
        at_broker = direct.get(case.name)
        is_lost = case.outcome is Outcome.SKIPPED and at_broker is Outcome.PASSED
        if is_lost or (case.outcome is Outcome.FAILED and at_broker is not Outcome.FAILED):
            yield case


def missing(ran: Ran) -> list[str]:
    """Tests that ran at the broker and not through us."""
    if ran.direct is None or ran.through is None:
        return []
    return sorted(_outcomes(ran.direct).keys() - _outcomes(ran.through).keys())


def is_wrong(ran: Ran) -> bool:
    """Whether the command must fail."""
    unexplained = (case for case in worse(ran) if case.name not in ran.suite.explained)
    return bool(ran.trouble) or any(unexplained) or bool(missing(ran))


def rows(all_ran: Sequence[Ran]) -> Iterator[tuple[str, str, str, str, str]]:
    """Suite, tests, passed at the broker, passed through us, why not."""
    for ran in all_ran:
        names = {case.name for case in (*(ran.direct or ()), *(ran.through or ()))}
        counts = (_passed(ran.direct), _passed(ran.through))
        yield (ran.suite.name, str(len(names)), *counts, "; ".join(_reasons(ran)))


def _passed(cases: Sequence[Case] | None) -> str:
    if cases is None:
        return "-"
    return str(sum(case.outcome is Outcome.PASSED for case in cases))


def _reasons(ran: Ran) -> Iterator[str]:
    if ran.trouble:
        yield ran.trouble
    skipped = {
        case.name
        for case in (*(ran.direct or ()), *(ran.through or ()))
        if case.outcome is Outcome.SKIPPED
    }
    if skipped:
        yield f"{len(skipped)} skipped by the suite"
    for case in ran.direct or ():
        if case.outcome is Outcome.FAILED:
            yield f"{case.name} fails at the broker itself: {case.why}"
    for case in worse(ran):
        yield f"{case.name}: {ran.suite.explained.get(case.name, case.why)}"
    for name in missing(ran):
        yield f"{name}: did not run through us"


def _outcomes(cases: Sequence[Case] | None) -> Mapping[str, Outcome]:
    return {case.name: case.outcome for case in cases or ()}
