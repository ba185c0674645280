from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

Json = dict[str, Any]

RUN = "from group_coordinator.cli.main import main; main()"
A_MINUTE_OF_RETENTION = ("--set", "offsets.retention.minutes=1")
A_SWEEP_A_MILLISECOND = ("--set", "offsets.retention.check.interval.ms=1")
PATIENCE_SECONDS = 30.0


@contextmanager
def conversation() -> Iterator[Callable[[str], list[Json]]]:
    """Say a line to `group-coordinator replay-events` and hear what comes of it."""
    command = [sys.executable, "-c", RUN, "replay-events"]
    process = subprocess.Popen(  # noqa: S603 - a fixed program
        [*command, *A_MINUTE_OF_RETENTION, *A_SWEEP_A_MILLISECOND],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    story, told = process.stdin, process.stdout

    def say(line: str) -> list[Json]:
        story.write(line + "\n")
        story.flush()
        answers: list[Json] = []
        while (answer := json.loads(told.readline())) != {"kind": "done"}:
            answers.append(answer)
        return answers

    guard = Timer(PATIENCE_SECONDS, process.kill)
    guard.start()
    try:
        with process:
            yield say
            story.close()
    finally:
        guard.cancel()
    assert process.returncode == 0


def tell(story: str) -> None:
    """Play a story: lines with > go in, those with < are all that must come out, # is for the reader."""
    exchanges: list[tuple[str, list[Json]]] = []
    for line in story.strip().splitlines():
        if line.startswith("> "):
            exchanges.append((line[2:], []))
        elif line.startswith("< "):
            exchanges[-1][1].append(json.loads(line[2:]))
    with conversation() as say:
        for line, answers in exchanges:
            assert say(line) == answers, line


def test_kip_229_only_an_empty_group_can_be_deleted() -> None:
    tell("""
> {"at":0,"event":{"api":"DeleteGroups","version":1,"correlationId":"d1","body":{"groupsNames":["billing"]}}}
< {"kind":"response","id":"replay-0-1","correlationId":"d1","api":"DeleteGroups","version":1,"groupId":"billing","at":0,"body":{"throttleTimeMs":0,"results":[{"groupId":"billing","errorCode":69}]}}
> {"at":0,"event":{"api":"JoinGroup","version":3,"correlationId":"j1","clientId":"billing","body":{"groupId":"billing","sessionTimeoutMs":10000,"rebalanceTimeoutMs":60000,"memberId":"","protocolType":"consumer","protocols":[{"name":"range","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}}
< {"kind":"record","groupId":"billing","at":0,"reason":"join","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":0,"members":[]}}}
> {"at":2999,"event":{"api":"DeleteGroups","version":1,"correlationId":"d2","body":{"groupsNames":["billing"]}}}
< {"kind":"response","id":"replay-0-3","correlationId":"d2","api":"DeleteGroups","version":1,"groupId":"billing","at":2999,"body":{"throttleTimeMs":0,"results":[{"groupId":"billing","errorCode":68}]}}
> {"at":3000,"event":{"api":"DeleteGroups","version":1,"correlationId":"d3","body":{"groupsNames":["billing"]}}}
< {"kind":"response","id":"replay-0-2","correlationId":"j1","api":"JoinGroup","version":3,"groupId":"billing","at":3000,"body":{"throttleTimeMs":0,"errorCode":0,"generationId":1,"protocolName":"range","leader":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","memberId":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","members":[{"memberId":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}
< {"kind":"response","id":"replay-0-4","correlationId":"d3","api":"DeleteGroups","version":1,"groupId":"billing","at":3000,"body":{"throttleTimeMs":0,"results":[{"groupId":"billing","errorCode":68}]}}
> {"at":3000,"event":{"api":"SyncGroup","version":3,"body":{"groupId":"billing","generationId":1,"memberId":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","assignments":[]}}}
< {"kind":"record","groupId":"billing","at":3000,"reason":"sync","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","currentStateTimestamp":3000,"members":[{"memberId":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","groupInstanceId":null,"clientId":"billing","clientHost":"/127.0.0.1","rebalanceTimeout":60000,"sessionTimeout":10000,"subscription":"AAAAAAABAAZvcmRlcnP/////","assignment":""}]}}}
> {"at":4000,"event":{"api":"OffsetCommit","version":8,"body":{"groupId":"billing","generationIdOrMemberEpoch":1,"memberId":"billing-cdc2214e-ac14-532d-a024-d9074baf8704","topics":[{"name":"orders","partitions":[{"partitionIndex":1,"committedOffset":43},{"partitionIndex":0,"committedOffset":42}]}]}}}
< {"kind":"record","groupId":"billing","at":4000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":1}},"value":{"version":4,"data":{"offset":43,"leaderEpoch":-1,"metadata":"","commitTimestamp":4000}}}
< {"kind":"record","groupId":"billing","at":4000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":4000}}}
> {"at":13999,"event":{"api":"DeleteGroups","version":1,"correlationId":"d4","body":{"groupsNames":["billing"]}}}
< {"kind":"response","id":"replay-0-7","correlationId":"d4","api":"DeleteGroups","version":1,"groupId":"billing","at":13999,"body":{"throttleTimeMs":0,"results":[{"groupId":"billing","errorCode":68}]}}
# The last session ends at this millisecond.
> {"at":14000,"event":{"api":"DeleteGroups","version":1,"correlationId":"d5","body":{"groupsNames":["billing"]}}}
< {"kind":"record","groupId":"billing","at":14000,"reason":"session-timeout","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":2,"protocol":null,"leader":null,"currentStateTimestamp":14000,"members":[]}}}
< {"kind":"record","groupId":"billing","at":14000,"reason":"group-deleted","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":null}
< {"kind":"record","groupId":"billing","at":14000,"reason":"group-deleted","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":1}},"value":null}
< {"kind":"record","groupId":"billing","at":14000,"reason":"group-deleted","key":{"type":2,"data":{"group":"billing"}},"value":null}
< {"kind":"response","id":"replay-0-8","correlationId":"d5","api":"DeleteGroups","version":1,"groupId":"billing","at":14000,"body":{"throttleTimeMs":0,"results":[{"groupId":"billing","errorCode":0}]}}
> {"at":14000,"event":{"api":"DeleteGroups","version":1,"correlationId":"d6","body":{"groupsNames":["billing"]}}}
< {"kind":"response","id":"replay-0-9","correlationId":"d6","api":"DeleteGroups","version":1,"groupId":"billing","at":14000,"body":{"throttleTimeMs":0,"results":[{"groupId":"billing","errorCode":69}]}}
> {"describe":"billing"}
< {"kind":"group","groupId":"billing","type":null,"state":"Dead","protocolType":null,"protocol":null,"generationOrEpoch":null,"leader":null,"members":[],"offsets":[],"nextDeadline":null}
> {"at":80000}
""")


def test_kip_496_unused_offsets_go_from_a_live_group() -> None:
    tell("""
> {"at":0,"event":{"api":"JoinGroup","version":3,"correlationId":"j1","clientId":"billing","body":{"groupId":"billing","sessionTimeoutMs":300000,"rebalanceTimeoutMs":60000,"memberId":"","protocolType":"consumer","protocols":[{"name":"range","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}}
< {"kind":"record","groupId":"billing","at":0,"reason":"join","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":0,"members":[]}}}
> {"at":3000}
< {"kind":"response","id":"replay-0-1","correlationId":"j1","api":"JoinGroup","version":3,"groupId":"billing","at":3000,"body":{"throttleTimeMs":0,"errorCode":0,"generationId":1,"protocolName":"range","leader":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","members":[{"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}
> {"at":3000,"event":{"api":"SyncGroup","version":3,"body":{"groupId":"billing","generationId":1,"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","assignments":[]}}}
< {"kind":"record","groupId":"billing","at":3000,"reason":"sync","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","currentStateTimestamp":3000,"members":[{"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","groupInstanceId":null,"clientId":"billing","clientHost":"/127.0.0.1","rebalanceTimeout":60000,"sessionTimeout":300000,"subscription":"AAAAAAABAAZvcmRlcnP/////","assignment":""}]}}}
> {"at":5000,"event":{"api":"OffsetCommit","version":8,"body":{"groupId":"billing","generationIdOrMemberEpoch":1,"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":42}]},{"name":"refunds","partitions":[{"partitionIndex":0,"committedOffset":7},{"partitionIndex":1,"committedOffset":8}]}]}}}
< {"kind":"record","groupId":"billing","at":5000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":5000}}}
< {"kind":"record","groupId":"billing","at":5000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"refunds","partition":0}},"value":{"version":4,"data":{"offset":7,"leaderEpoch":-1,"metadata":"","commitTimestamp":5000}}}
< {"kind":"record","groupId":"billing","at":5000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"refunds","partition":1}},"value":{"version":4,"data":{"offset":8,"leaderEpoch":-1,"metadata":"","commitTimestamp":5000}}}
# Nobody subscribes to refunds.
> {"at":6000,"event":{"api":"OffsetDelete","version":0,"correlationId":"o1","body":{"groupId":"billing","topics":[{"name":"orders","partitions":[{"partitionIndex":0}]},{"name":"refunds","partitions":[{"partitionIndex":0},{"partitionIndex":9}]}]}}}
< {"kind":"record","groupId":"billing","at":6000,"reason":"offset-deleted","key":{"type":1,"data":{"group":"billing","topic":"refunds","partition":0}},"value":null}
< {"kind":"response","id":"replay-0-5","correlationId":"o1","api":"OffsetDelete","version":0,"groupId":"billing","at":6000,"body":{"errorCode":0,"throttleTimeMs":0,"topics":[{"name":"orders","partitions":[{"partitionIndex":0,"errorCode":86}]},{"name":"refunds","partitions":[{"partitionIndex":0,"errorCode":0},{"partitionIndex":9,"errorCode":0}]}]}}
# The other one expires a minute after its commit.
> {"at":64999}
> {"at":65000}
< {"kind":"record","groupId":"billing","at":65000,"reason":"offset-expired","key":{"type":1,"data":{"group":"billing","topic":"refunds","partition":1}},"value":null}
> {"at":65001}
> {"at":200000,"event":{"api":"OffsetFetch","version":7,"correlationId":"f1","body":{"groupId":"billing","topics":null}}}
< {"kind":"response","id":"replay-0-9","correlationId":"f1","api":"OffsetFetch","version":7,"groupId":"billing","at":200000,"body":{"throttleTimeMs":0,"topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":42,"committedLeaderEpoch":-1,"metadata":"","errorCode":0}]}],"errorCode":0}}
# When all have left, nothing is subscribed to any more.
> {"at":200000,"event":{"api":"LeaveGroup","version":0,"body":{"groupId":"billing","memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a"}}}
< {"kind":"record","groupId":"billing","at":200000,"reason":"leave","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":2,"protocol":null,"leader":null,"currentStateTimestamp":200000,"members":[]}}}
> {"at":200000,"event":{"api":"OffsetDelete","version":0,"correlationId":"o2","body":{"groupId":"billing","topics":[{"name":"orders","partitions":[{"partitionIndex":0}]}]}}}
< {"kind":"record","groupId":"billing","at":200000,"reason":"offset-deleted","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":null}
< {"kind":"response","id":"replay-0-11","correlationId":"o2","api":"OffsetDelete","version":0,"groupId":"billing","at":200000,"body":{"errorCode":0,"throttleTimeMs":0,"topics":[{"name":"orders","partitions":[{"partitionIndex":0,"errorCode":0}]}]}}
> {"at":200001}
< {"kind":"record","groupId":"billing","at":200001,"reason":"group-expired","key":{"type":2,"data":{"group":"billing"}},"value":null}
> {"at":200001,"event":{"api":"OffsetDelete","version":0,"correlationId":"o3","body":{"groupId":"billing","topics":[{"name":"orders","partitions":[{"partitionIndex":0}]}]}}}
< {"kind":"response","id":"replay-0-13","correlationId":"o3","api":"OffsetDelete","version":0,"groupId":"billing","at":200001,"body":{"errorCode":69,"throttleTimeMs":0,"topics":[]}}
""")
