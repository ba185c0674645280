"""`group-coordinator`, with a fault in it.

    python -m tests.faults.job_with_fault STEP BATCH MARKER ARGUMENTS...

At STEP (steps.py, mirror_steps.py) of the first batch from BATCH on, the job is killed, unless the file MARKER exists.
"""

from __future__ import annotations

import sys
from pathlib import Path

from group_coordinator.cli.main import main
from tests.faults.mirror_steps import MIRROR_STEPS
from tests.faults.steps import STEPS, Trigger

if __name__ == "__main__":
    _, step, batch, marker, *arguments = sys.argv
    (STEPS | MIRROR_STEPS)[step](Trigger(int(batch), Path(marker)))
    main(arguments, prog_name="group-coordinator")
