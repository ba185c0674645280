"""What a line brought about: its gist in words, and the comparison of two coordinators."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from tests.conformance.language import consumer_outcome
from tests.conformance.language.embedded import assigned_in, with_sorted_topics
from tests.conformance.language.lines import Errors, Json, Line

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OFFSET, _GROUP, _MARKER = 1, 2, -1
_OURS_ALONE = ("id", "reason")
_UNORDERED = {
    "LeaveGroup": set[str](),
    "ConsumerGroupDescribe": {"members", "subscribedTopicNames"},
    "OffsetCommit": {"topics", "partitions"},
    "OffsetDelete": {"topics", "partitions"},
    "OffsetFetch": {"topics", "partitions"},
    "TxnOffsetCommit": {"topics", "partitions"},
}
"""What has no order by the API, where it is not just the members."""
_NOBODY: Mapping[str, str] = {}
_ASSIGNMENTS = ("assignment", "memberAssignment")
"""Bytes in which a consumer group has topics in the order of a map."""
_TEXTS = ("errorMessage", "message")
_DESCRIBED = ("groupId", "type", "protocolType")
_DESCRIBED_OF_CONSUMERS = (*_DESCRIBED, "protocol", "generationOrEpoch")


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
            return _gist_of_record(output)
        case kind:
            return str(kind)


def _gist_of_record(record: Json) -> str:
    kind, data = record["key"]["type"], record["key"]["data"]
    if kind == _MARKER:
        return ("abort", "commit")[data["type"]]
    if kind in consumer_outcome.TYPES:
        return consumer_outcome.gist(record)
    sign = "-" if record["value"] is None else "+"
    if kind == _OFFSET:
        return f"{sign}offset:{data['topic']}-{data['partition']}"
    return sign + {_GROUP: "group"}.get(kind, "other")


def complaints(
    line: Line, outputs: Sequence[Json], names: Mapping[str, str] = _NOBODY
) -> list[str]:
    """Say in which way the outputs are not what the script expects of this line; members go by the names of the script."""
    found = []
    correlation = line.text.get("event", {}).get("correlationId")
    own = [o for o in outputs if correlation and o.get("correlationId") == correlation]
    others = [o for o in outputs if o not in own]
    if correlation:
        expected = [] if isinstance(line.error, str) else [line.error]
        actual = [error_codes(o["body"]) for o in own]
        if len(actual) != len(expected) or not all(map(_agrees, expected, actual)):
            found.append(f"its own answer: expected {expected}, got {actual}")
        elif line.says:
            found += _false_facts(line.says, own[0]["body"])
    if line.also is not None:
        expected_gist, actual_gist = (
            sorted(line.also.split()),
            sorted(_named(gist(other), names) for other in others),
        )
        if expected_gist != actual_gist:
            found.append(f"what else it brings about: expected {expected_gist}, got {actual_gist}")
    return found


def _false_facts(says: Json | Mapping[str, Any], body: Json) -> Iterator[str]:
    for path, wish in says.items():
        expected, actual = consumer_outcome.told(wish), consumer_outcome.told(_fact(body, path))
        if expected != actual:
            yield f"its own answer, {path}: expected {expected}, got {actual}"


def _fact(body: Json, path: str) -> Any:
    found = consumer_outcome.fact(body, path)
    return assigned_in(found) if path == "assignment" and isinstance(found, str) else found


def _named(text: str, names: Mapping[str, str]) -> str:
    for member_id, name in names.items():
        text = text.replace(member_id, name)
    return text


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
    return _reduced_all(json.loads(_UUID.sub("<id>", text)))


def reduced(outputs: Sequence[Json]) -> list[Json]:
    """The same for two coordinators that make up the same ids: those stay."""
    return _reduced_all(json.loads(json.dumps(outputs)))


def _reduced_all(outputs: Sequence[Json]) -> list[Json]:
    plain = [_reduced(output) for output in outputs]
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
    plain = {name: value for name, value in output.items() if name not in _OURS_ALONE}
    if output["kind"] == "record" and output["key"]["type"] == _MARKER:
        # What a marker makes count is ours to say; Kafka looks it up.
        plain["value"] = {k: v for k, v in output["value"].items() if k != "offsets"}
    if output["kind"] == "record":
        plain = consumer_outcome.without_image_version(plain)
    unordered = _UNORDERED.get(output.get("api", ""), {"members"})
    ordered: Json = _ordered(consumer_outcome.without_map_order(plain), unordered)
    return ordered


def _described(output: Json) -> Json:
    """Keep of a described group what the oracle knows of it."""
    known = _DESCRIBED_OF_CONSUMERS if output.get("type") == "consumer" else _DESCRIBED
    plain = {name: output[name] for name in known} if output["state"] != "Dead" else {}
    members = [(member["memberId"], member["groupInstanceId"]) for member in output["members"]]
    offsets = [(o["topic"], o["partition"], o["committedOffset"]) for o in output["offsets"]]
    return {
        "kind": "group",
        "state": output["state"],
        **plain,
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
    return ordered | dict(_without_variety(ordered))


def _without_variety(node: Json) -> Iterator[tuple[str, str]]:
    """Yield the fields whose texts or bytes may be others that say the same."""
    for name in _ASSIGNMENTS:
        if isinstance(node.get(name), str):
            yield name, with_sorted_topics(node[name])
    for name in _TEXTS:
        if node.get(name):
            yield name, "<text>"


def _sort_runs(records: Sequence[Json]) -> list[Json]:
    """Sort inside each run of records that has no order."""
    runs: list[list[Json]] = []
    for record in consumer_outcome.without_order_of_leaving(records):
        if runs and _is_unordered_with(record, runs[-1][-1]):
            runs[-1].append(record)
        else:
            runs.append([record])
    return [record for run in runs for record in sorted(run, key=json.dumps)]


def _is_unordered_with(record: Json, before: Json) -> bool:
    if record["groupId"] != before["groupId"] or record.get("at") != before.get("at"):
        return False
    gone = [is_offset_tombstone(one) for one in (record, before)]
    return all(gone) or consumer_outcome.is_unordered_with(record, before)


def is_offset_tombstone(record: Json) -> bool:
    return record["key"]["type"] == _OFFSET and record["value"] is None


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
