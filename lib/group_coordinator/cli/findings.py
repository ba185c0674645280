"""What a look before a run has found, as a user sees it."""

from __future__ import annotations

from collections.abc import Iterable

import click

from group_coordinator.driver.checks.preflight import Finding

_WRONG = 1
_WIDTH = len("events partitions")


def print_findings(findings: Iterable[Finding]) -> None:
    """Print each finding as soon as it is known; exit with status 1 if something that a run needs is wrong."""
    wrong = 0
    for finding in findings:
        wrong += not finding.is_right and finding.is_needed
        verdict = "right" if finding.is_right else "WRONG" if finding.is_needed else "less "
        click.echo(f"{verdict}  {finding.subject:{_WIDTH}}  {finding.text}")
    if wrong:
        click.get_current_context().exit(_WRONG)
