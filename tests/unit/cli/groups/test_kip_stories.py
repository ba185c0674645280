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


def test_kip_211_a_simple_group_loses_its_offsets_one_by_one() -> None:
    tell("""
> {"at":1000,"event":{"api":"OffsetCommit","version":8,"correlationId":"c1","body":{"groupId":"nightly","topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":10},{"partitionIndex":1,"committedOffset":11}]}]}}}
< {"kind":"record","groupId":"nightly","at":1000,"reason":"offset-commit","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":10,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000}}}
< {"kind":"record","groupId":"nightly","at":1000,"reason":"offset-commit","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":1}},"value":{"version":4,"data":{"offset":11,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000}}}
< {"kind":"response","id":"replay-0-1","correlationId":"c1","api":"OffsetCommit","version":8,"groupId":"nightly","at":1000,"body":{"throttleTimeMs":0,"topics":[{"name":"orders","partitions":[{"partitionIndex":0,"errorCode":0},{"partitionIndex":1,"errorCode":0}]}]}}
> {"at":31000,"event":{"api":"OffsetCommit","version":8,"correlationId":"c2","body":{"groupId":"nightly","topics":[{"name":"orders","partitions":[{"partitionIndex":1,"committedOffset":12}]}]}}}
< {"kind":"record","groupId":"nightly","at":31000,"reason":"offset-commit","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":1}},"value":{"version":4,"data":{"offset":12,"leaderEpoch":-1,"metadata":"","commitTimestamp":31000}}}
< {"kind":"response","id":"replay-0-2","correlationId":"c2","api":"OffsetCommit","version":8,"groupId":"nightly","at":31000,"body":{"throttleTimeMs":0,"topics":[{"name":"orders","partitions":[{"partitionIndex":1,"errorCode":0}]}]}}
> {"at":60999}
> {"at":61000}
< {"kind":"record","groupId":"nightly","at":61000,"reason":"offset-expired","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":0}},"value":null}
> {"at":61001}
> {"at":90999}
> {"at":91000}
< {"kind":"record","groupId":"nightly","at":91000,"reason":"offset-expired","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":1}},"value":null}
< {"kind":"record","groupId":"nightly","at":91000,"reason":"group-expired","key":{"type":2,"data":{"group":"nightly"}},"value":null}
> {"at":91001}
> {"describe":"nightly"}
< {"kind":"group","groupId":"nightly","type":null,"state":"Dead","protocolType":null,"protocol":null,"generationOrEpoch":null,"leader":null,"members":[],"offsets":[],"nextDeadline":null}
""")


def test_kip_211_an_empty_group_loses_all_by_the_time_it_became_empty() -> None:
    tell("""
> {"at":0,"event":{"api":"JoinGroup","version":3,"correlationId":"j1","clientId":"billing","body":{"groupId":"billing","sessionTimeoutMs":10000,"rebalanceTimeoutMs":60000,"memberId":"","protocolType":"consumer","protocols":[{"name":"range","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}}
< {"kind":"record","groupId":"billing","at":0,"reason":"join","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":0,"members":[]}}}
> {"at":3000}
< {"kind":"response","id":"replay-0-1","correlationId":"j1","api":"JoinGroup","version":3,"groupId":"billing","at":3000,"body":{"throttleTimeMs":0,"errorCode":0,"generationId":1,"protocolName":"range","leader":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","members":[{"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}
> {"at":3000,"event":{"api":"SyncGroup","version":3,"body":{"groupId":"billing","generationId":1,"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","assignments":[]}}}
< {"kind":"record","groupId":"billing","at":3000,"reason":"sync","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","currentStateTimestamp":3000,"members":[{"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","groupInstanceId":null,"clientId":"billing","clientHost":"/127.0.0.1","rebalanceTimeout":60000,"sessionTimeout":10000,"subscription":"AAAAAAABAAZvcmRlcnP/////","assignment":""}]}}}
> {"at":4000,"event":{"api":"OffsetCommit","version":8,"body":{"groupId":"billing","generationIdOrMemberEpoch":1,"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":42}]}]}}}
< {"kind":"record","groupId":"billing","at":4000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":4000}}}
# Its last sign of life was the commit, so it is Empty since 14,000.
> {"at":50000}
< {"kind":"record","groupId":"billing","at":14000,"reason":"session-timeout","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":2,"protocol":null,"leader":null,"currentStateTimestamp":14000,"members":[]}}}
# A commit to an Empty group prolongs nothing.
> {"at":73999,"event":{"api":"OffsetCommit","version":8,"body":{"groupId":"billing","topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":43}]}]}}}
< {"kind":"record","groupId":"billing","at":73999,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":43,"leaderEpoch":-1,"metadata":"","commitTimestamp":73999}}}
> {"at":74000}
< {"kind":"record","groupId":"billing","at":74000,"reason":"offset-expired","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":null}
< {"kind":"record","groupId":"billing","at":74000,"reason":"group-expired","key":{"type":2,"data":{"group":"billing"}},"value":null}
> {"at":74001}
> {"describe":"billing"}
< {"kind":"group","groupId":"billing","type":null,"state":"Dead","protocolType":null,"protocol":null,"generationOrEpoch":null,"leader":null,"members":[],"offsets":[],"nextDeadline":null}
# The name is free.
> {"at":80000,"event":{"api":"OffsetCommit","version":8,"correlationId":"c2","body":{"groupId":"billing","topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":1}]}]}}}
< {"kind":"record","groupId":"billing","at":80000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":1,"leaderEpoch":-1,"metadata":"","commitTimestamp":80000}}}
< {"kind":"response","id":"replay-0-10","correlationId":"c2","api":"OffsetCommit","version":8,"groupId":"billing","at":80000,"body":{"throttleTimeMs":0,"topics":[{"name":"orders","partitions":[{"partitionIndex":0,"errorCode":0}]}]}}
""")


def test_kip_211_who_comes_back_in_time_starts_the_clock_anew() -> None:
    tell("""
> {"at":0,"event":{"api":"JoinGroup","version":3,"correlationId":"j1","clientId":"billing","body":{"groupId":"billing","sessionTimeoutMs":10000,"rebalanceTimeoutMs":60000,"memberId":"","protocolType":"consumer","protocols":[{"name":"range","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}}
< {"kind":"record","groupId":"billing","at":0,"reason":"join","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":0,"members":[]}}}
> {"at":3000}
< {"kind":"response","id":"replay-0-1","correlationId":"j1","api":"JoinGroup","version":3,"groupId":"billing","at":3000,"body":{"throttleTimeMs":0,"errorCode":0,"generationId":1,"protocolName":"range","leader":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","members":[{"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}
> {"at":3000,"event":{"api":"SyncGroup","version":3,"body":{"groupId":"billing","generationId":1,"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","assignments":[]}}}
< {"kind":"record","groupId":"billing","at":3000,"reason":"sync","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","currentStateTimestamp":3000,"members":[{"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","groupInstanceId":null,"clientId":"billing","clientHost":"/127.0.0.1","rebalanceTimeout":60000,"sessionTimeout":10000,"subscription":"AAAAAAABAAZvcmRlcnP/////","assignment":""}]}}}
> {"at":4000,"event":{"api":"OffsetCommit","version":8,"body":{"groupId":"billing","generationIdOrMemberEpoch":1,"memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a","topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":42}]}]}}}
< {"kind":"record","groupId":"billing","at":4000,"reason":"offset-commit","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":4000}}}
> {"at":5000,"event":{"api":"LeaveGroup","version":0,"correlationId":"l1","body":{"groupId":"billing","memberId":"billing-bda8fe41-6020-5fd4-b695-f07807763c0a"}}}
< {"kind":"record","groupId":"billing","at":5000,"reason":"leave","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":2,"protocol":null,"leader":null,"currentStateTimestamp":5000,"members":[]}}}
< {"kind":"response","id":"replay-0-5","correlationId":"l1","api":"LeaveGroup","version":0,"groupId":"billing","at":5000,"body":{"errorCode":0}}
# A millisecond before the end.
> {"at":64999,"event":{"api":"JoinGroup","version":3,"correlationId":"j2","clientId":"billing","body":{"groupId":"billing","sessionTimeoutMs":10000,"rebalanceTimeoutMs":60000,"memberId":"","protocolType":"consumer","protocols":[{"name":"range","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}}
> {"at":65000}
> {"at":67999}
< {"kind":"response","id":"replay-0-6","correlationId":"j2","api":"JoinGroup","version":3,"groupId":"billing","at":67999,"body":{"throttleTimeMs":0,"errorCode":0,"generationId":3,"protocolName":"range","leader":"billing-951a32b3-a42c-509b-a6d6-b597ab639e7d","memberId":"billing-951a32b3-a42c-509b-a6d6-b597ab639e7d","members":[{"memberId":"billing-951a32b3-a42c-509b-a6d6-b597ab639e7d","metadata":"AAAAAAABAAZvcmRlcnP/////"}]}}
> {"at":67999,"event":{"api":"LeaveGroup","version":0,"correlationId":"l2","body":{"groupId":"billing","memberId":"billing-951a32b3-a42c-509b-a6d6-b597ab639e7d"}}}
< {"kind":"record","groupId":"billing","at":67999,"reason":"leave","key":{"type":2,"data":{"group":"billing"}},"value":{"version":3,"data":{"protocolType":"consumer","generation":4,"protocol":null,"leader":null,"currentStateTimestamp":67999,"members":[]}}}
< {"kind":"response","id":"replay-0-9","correlationId":"l2","api":"LeaveGroup","version":0,"groupId":"billing","at":67999,"body":{"errorCode":0}}
> {"at":127998}
> {"at":127999}
< {"kind":"record","groupId":"billing","at":127999,"reason":"offset-expired","key":{"type":1,"data":{"group":"billing","topic":"orders","partition":0}},"value":null}
< {"kind":"record","groupId":"billing","at":127999,"reason":"group-expired","key":{"type":2,"data":{"group":"billing"}},"value":null}
""")


def test_kip_211_a_retention_time_in_the_commit_decides_alone() -> None:
    tell("""
> {"at":1000,"event":{"api":"OffsetCommit","version":2,"body":{"groupId":"nightly","retentionTimeMs":5000,"topics":[{"name":"orders","partitions":[{"partitionIndex":0,"committedOffset":10}]}]}}}
< {"kind":"record","groupId":"nightly","at":1000,"reason":"offset-commit","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":0}},"value":{"version":1,"data":{"offset":10,"metadata":"","commitTimestamp":1000,"expireTimestamp":6000}}}
> {"at":1000,"event":{"api":"OffsetCommit","version":4,"body":{"groupId":"nightly","retentionTimeMs":90000,"topics":[{"name":"orders","partitions":[{"partitionIndex":1,"committedOffset":11}]}]}}}
< {"kind":"record","groupId":"nightly","at":1000,"reason":"offset-commit","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":1}},"value":{"version":1,"data":{"offset":11,"metadata":"","commitTimestamp":1000,"expireTimestamp":91000}}}
> {"at":5999}
> {"at":6000}
< {"kind":"record","groupId":"nightly","at":6000,"reason":"offset-expired","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":0}},"value":null}
> {"at":90999}
> {"at":91000}
< {"kind":"record","groupId":"nightly","at":91000,"reason":"offset-expired","key":{"type":1,"data":{"group":"nightly","topic":"orders","partition":1}},"value":null}
< {"kind":"record","groupId":"nightly","at":91000,"reason":"group-expired","key":{"type":2,"data":{"group":"nightly"}},"value":null}
""")


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
