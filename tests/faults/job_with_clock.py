"""`group-coordinator` on a machine whose clock is wrong: `python -m tests.faults.job_with_clock AHEAD_MS ARGUMENTS...`."""

from __future__ import annotations

import sys
import time

from group_coordinator.cli.main import main

if __name__ == "__main__":
    _, ahead_ms, *arguments = sys.argv
    right, ahead_ns = time.time_ns, int(ahead_ms) * 1_000_000
    time.time_ns = lambda: right() + ahead_ns
    main(arguments, prog_name="group-coordinator")
