"""A batch is cut off when its records are in the log, and the job is started again with other settings."""

from __future__ import annotations

from tests.faults.kills import kill_at
from tests.faults.result import Result, compared
from tests.faults.scene import Scene, drain

_OTHER = ("group.max.offsets=1", "acls.source=none")
"""With the first most commits of the batch would be refused, with the second nothing would be denied."""


def settings_changed(scene: Scene) -> Result:
    """The batch ends with the settings that it began with: nobody is told two things."""
    name = "changed-settings"
    kill_at("after-the-log", scene.installation(name), first_batch=0)
    drain(scene.installation(name, *_OTHER))
    return compared(name, 2, scene.compare(scene.installation(name)))
