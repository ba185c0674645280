"""Our state machine, rebuilt from its records where a line says that the coordinator restarts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from group_coordinator import settings
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.replay import begin_sessions, replay
from group_coordinator.runtime.replay_session import Replay
from tests.conformance.language.lines import LIVE, WHOLE, Json


class RestartingReplay(Replay):
    """A session whose lines may also be {"at": TIME, "restart": {"KEY": "VALUE"}, "log": WHOLE, LATEST or LIVE}."""

    def __init__(self, overrides: Mapping[str, str], new_id: Callable[[str], str]) -> None:
        super().__init__(_config_of(overrides), new_id)
        self._overrides = dict(overrides)
        self._log: defaultdict[str, list[Json]] = defaultdict(list)

    def line(self, text: str) -> list[Json]:
        said = json.loads(text) if '"restart"' in text else {}
        *outputs, done = super().line(json.dumps({"at": said["at"]}) if said else text)
        self._keep(outputs)
        if said:
            self._overrides |= said["restart"]
            self._config = _config_of(self._overrides)
            self._log = _cleaned(self._log, said["log"])
            restarted = list(self._restarted(said["at"]))
            self._keep(restarted)
            outputs += restarted
        return [*outputs, done]

    def _keep(self, outputs: list[Json]) -> None:
        for output in outputs:
            if output["kind"] == "record":
                self._log[output["groupId"]].append(output)

    def _restarted(self, now_ms: int) -> Iterator[Json]:
        """Forget all groups, pending requests with them, and read them again."""
        before, self._groups = self._groups, {}
        for group_id in sorted({*before, *self._log}):
            group = Group(group_id)
            for record in self._log[group_id]:
                replay(group, [_decoded(record)], record["at"])
            if group_id in before:
                group.configs = before[group_id].configs
            if group.has_no_data:
                continue
            group.clock_ms = now_ms
            self._groups[group_id] = group
            self._group(group_id)
            begin_sessions(group, now_ms, self._config)
        yield from self._pass_time(now_ms)


def _config_of(overrides: Mapping[str, str]) -> CoordinatorConfig:
    chosen = [f"{key}={value}" for key, value in overrides.items()]
    return settings.load(overrides=chosen).coordinator


def _decoded(record: Json) -> Record:
    value = None if record["value"] is None else json.dumps(record["value"])
    return log_entry.decode(json.dumps(record["key"]), value)


def _cleaned(log: Mapping[str, list[Json]], part: str) -> defaultdict[str, list[Json]]:
    left = defaultdict(list, log)
    if part != WHOLE:
        for group_id, records in log.items():
            last = {json.dumps(record["key"]): record for record in records}
            left[group_id] = [
                record
                for record in records
                if last[json.dumps(record["key"])] is record
                and (part != LIVE or record["value"] is not None)
            ]
    return left
