"""What a line brought about: its gist in words, and the comparison of two coordinators."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from tests.conformance.lines import Errors, Json, Line

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OFFSET, _GROUP, _MARKER = 1, 2, -1
_OURS_ALONE = ("id", "reason")
_UNORDERED = {
    "LeaveGroup": set[str](),
    "OffsetCommit": {"topics", "partitions"},
    "OffsetDelete": {"topics", "partitions"},
    "OffsetFetch": {"topics", "partitions"},
    "TxnOffsetCommit": {"topics", "partitions"},
}
"""What has no order by the API, where it is not just the members."""
_TEXTS = ("errorMessage", "message")
_DESCRIBED = ("groupId", "type", "protocolType")


def error_codes(node: Any) -> list[int]:
    """List every errorCode below this node, in order of appearance."""
    if isinstance(node, list):
        return [code for item in node for code in error_codes(item)]
    if not isinstance(node, dict):
        return []
    codes: list[int] = []
    for name, value in node.items():
        codes += [value] if name == "errorCode" else error_codes(value)
    return codes


def gist(output: Json) -> str:
    """Put an output in one word: JoinGroup=0, +offset:orders-0, -offset:orders-0, +group, -group, commit, abort."""
    match output["kind"]:
        case "response":
            codes = ",".join(str(code) for code in error_codes(output["body"]))
            return f"{output['api']}={codes}"
        case "record":
            if output["key"]["type"] == _MARKER:
                return ("abort", "commit")[output["key"]["data"]["type"]]
            sign = "-" if output["value"] is None else "+"
            data = output["key"]["data"]
            if output["key"]["type"] == _OFFSET:
                return f"{sign}offset:{data['topic']}-{data['partition']}"
            return sign + {_GROUP: "group"}.get(output["key"]["type"], "other")
        case kind:
            return str(kind)


def complaints(line: Line, outputs: Sequence[Json]) -> list[str]:
    """Say in which way the outputs are not what the script expects of this line."""
    found = []
    correlation = line.text.get("event", {}).get("correlationId")
    own = [o for o in outputs if correlation and o.get("correlationId") == correlation]
    others = [o for o in outputs if o not in own]
    if correlation:
        expected = [] if isinstance(line.error, str) else [line.error]
        actual = [error_codes(o["body"]) for o in own]
        if len(actual) != len(expected) or not all(map(_agrees, expected, actual)):
            found.append(f"its own answer: expected {expected}, got {actual}")
    if line.gives is not None:
        expected_gist, actual_gist = sorted(line.gives.split()), sorted(map(gist, others))
        if expected_gist != actual_gist:
            found.append(f"what it gives: expected {expected_gist}, got {actual_gist}")
    return found


def _agrees(expected: Errors, codes: list[int]) -> bool:
    if not isinstance(expected, tuple):
        return all(code == expected for code in codes)
    return sorted(expected) == sorted(codes)


def comparable(outputs: Sequence[Json], names: Mapping[str, str]) -> list[Json]:
    """Bring a line's outputs into the form in which two coordinators must agree.

    Left out is what Kafka does not have or leaves to the order of a hash map: generated ids go by
    the names of the script, answers by correlation id, members by id, the offset tombstones of
    one run by partition, and each group has its own sequence of records.
    """
    text = json.dumps(outputs)
    for member_id, name in names.items():
        text = text.replace(json.dumps(member_id)[1:-1], f"<{name}>")
    plain = [_reduced(output) for output in json.loads(_UUID.sub("<id>", text))]
    answers = sorted((o for o in plain if o["kind"] == "response"), key=_correlation)
    records = sorted((o for o in plain if o["kind"] == "record"), key=lambda o: o["groupId"])
    rest = [o for o in plain if o["kind"] not in ("response", "record")]
    return answers + _sort_runs(records) + rest


def _correlation(output: Json) -> str:
    return str(output["correlationId"])


def _reduced(output: Json) -> Json:
    if output["kind"] in ("deadLetter", "error"):
        return {"kind": output["kind"]}
    if output["kind"] == "group":
        return _described(output)
    reduced = {name: value for name, value in output.items() if name not in _OURS_ALONE}
    if output["kind"] == "record" and output["key"]["type"] == _MARKER:
        # What a marker makes count is ours to say; Kafka looks it up.
        reduced["value"] = {k: v for k, v in output["value"].items() if k != "offsets"}
    ordered: Json = _ordered(reduced, _UNORDERED.get(output.get("api", ""), {"members"}))
    return ordered


def _described(output: Json) -> Json:
    """Keep of a described group what the oracle knows of it."""
    reduced = {name: output[name] for name in _DESCRIBED} if output["state"] != "Dead" else {}
    members = [(member["memberId"], member["groupInstanceId"]) for member in output["members"]]
    offsets = [(o["topic"], o["partition"], o["committedOffset"]) for o in output["offsets"]]
    return {
        "kind": "group",
        "state": output["state"],
        **reduced,
        "members": sorted(members),
        "offsets": sorted(offsets),
    }


def _ordered(node: Any, unordered: AbstractSet[str]) -> Any:
    if isinstance(node, list):
        return [_ordered(item, unordered) for item in node]
    if not isinstance(node, dict):
        return node
    ordered = {name: _ordered(value, unordered) for name, value in node.items()}
    for name in unordered:
        if isinstance(ordered.get(name), list):
            ordered[name].sort(key=lambda item: json.dumps(item, sort_keys=True))
    for name in _TEXTS:
        if ordered.get(name):
            ordered[name] = "<text>"
    return ordered


def _sort_runs(records: Sequence[Json]) -> list[Json]:
    """Sort the offset tombstones inside each run of them."""
    placed: list[Json] = []
    run: list[Json] = []
    for record in records:
        if record["key"]["type"] == _OFFSET and record["value"] is None:
            run.append(record)
            continue
        placed += [*sorted(run, key=json.dumps), record]
        run = []
    return placed + sorted(run, key=json.dumps)


def flattened(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf with its path: ("body.members[0].memberId", "<m1>")."""
    if isinstance(node, dict) and node:
        for name, value in node.items():
            yield from flattened(value, f"{path}.{name}" if path else name)
    elif isinstance(node, list) and node:
        for index, item in enumerate(node):
            yield from flattened(item, f"{path}[{index}]")
    else:
        yield path, node


def differences(kafka: Sequence[Json], ours: Sequence[Json]) -> list[str]:
    """Name the fields in which our outputs are not Kafka's."""
    found = []
    for index in range(max(len(kafka), len(ours))):
        theirs = dict(flattened(kafka[index])) if index < len(kafka) else {}
        mine = dict(flattened(ours[index])) if index < len(ours) else {}
        about = gist_or_nothing(kafka, index), gist_or_nothing(ours, index)
        found += [
            f"output {index + 1} ({' / '.join(dict.fromkeys(about))}) {path}: "
            f"Kafka {theirs.get(path, 'absent')!r}, ours {mine.get(path, 'absent')!r}"
            for path in dict.fromkeys((*theirs, *mine))
            if theirs.get(path, "absent") != mine.get(path, "absent")
        ]
    return found


def gist_or_nothing(outputs: Sequence[Json], index: int) -> str:
    return gist(outputs[index]) if index < len(outputs) else "nothing"
