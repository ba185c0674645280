"""What a task knows of the outages when its batch begins."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from msgspec import json
from pyspark import TaskContext

from group_coordinator.core.deadlines.outages import Outages
from group_coordinator.runtime.group_call import OperatorSettings
from group_coordinator.streaming.outage_log import PROPERTY


def in_this_task(settings: OperatorSettings) -> OperatorSettings:
    """The settings of the query, with the outages that the driver told the tasks of this batch (outage_log.py)."""
    task = TaskContext.get()
    text = None if task is None else task.getLocalProperty(PROPERTY)
    if not text:
        return settings
    return replace(settings, context=replace(settings.context, outages=_decoded(text)))


@lru_cache(maxsize=1)
def _decoded(text: str) -> Outages:
    return json.decode(text, type=Outages)
