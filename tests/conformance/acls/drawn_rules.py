"""Rules and questions, drawn from a seed out of few names, so that they meet."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from group_coordinator.core.acls import (
    AclRule,
    Acls,
    Operation,
    PatternType,
    Permission,
    RequestSender,
    ResourceType,
)

_LETTERS = "ab*-é🐟"
"""Of names. None is below the asterisk: Kafka's search for prefixes fails on some names that begin so."""
_CALLERS = ("User:a", "User:b", "User:a:b", "Group:a", "Group:*", "User:")
_PRINCIPALS = (*_CALLERS, "User:*")
"""Of rules. Kafka's authorizer fails for a caller whose name is the asterisk."""
_ADDRESSES = ("10.0.0.7", "10.1.2.3", "192.168.0.1", "0:0:0:0:0:0:0:1", "fd00:0:0:0:0:0:0:5")
"""As Java writes them."""
_RANGES = (
    *("10.0.0.0/8", "10.0.0.7/31", "10.0.0.7/32", "0.0.0.0/0", "010.0.0.0/08", "192.168.255.1/16"),
    *("::/0", "fd00::/8", "::1/128", "fd00::4/127", "::1/0128"),
)
_NO_RANGES = (
    *("10.0.0.300/8", "10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0.0/008", "10.0.0/8", "x/8"),
    *("10.0.0.0/255.0.0.0", "10.0.0.0/8/8", "::/129", "fd00::/x", "fd00:/8", "::1", ""),
)
_MOST_RULES = 14
_QUESTIONS = 8


class Question(NamedTuple):
    """Whether somebody may do something."""

    caller: RequestSender
    operation: Operation
    kind: ResourceType
    name: str


class Drawn(NamedTuple):
    """Rules, and what is asked of them."""

    acls: Acls
    questions: list[Question]


def drawn(seed: int) -> Drawn:
    draw = Random(seed)  # noqa: S311 - the same every time, no secret
    kinds = draw.sample([*ResourceType], draw.choice([1, 1, 2, 6]))
    operations = draw.sample([*Operation], draw.choice([2, 4, len(Operation)]))
    rules = [_rule(draw, kinds, operations) for _ in range(draw.randrange(_MOST_RULES))]
    super_users = draw.sample(_PRINCIPALS, draw.choice([0, 0, 0, 1, 2]))
    acls = Acls(tuple(dict.fromkeys(rules)), tuple(super_users), draw.random() < 0.3)
    questions = [
        Question(
            RequestSender(draw.choice(_CALLERS), draw.choice(_ADDRESSES)),
            draw.choice(operations),
            draw.choice(kinds),
            _name(draw),
        )
        for _ in range(_QUESTIONS)
    ]
    return Drawn(acls, questions)


def _rule(draw: Random, kinds: list[ResourceType], operations: list[Operation]) -> AclRule:
    return AclRule(
        resource_type=draw.choice(kinds),
        resource_name=draw.choice(["*", _name(draw), _name(draw)]),
        pattern_type=draw.choice([*PatternType]),
        principal=draw.choice(_PRINCIPALS),
        host=draw.choice(
            ["*", "*", draw.choice(_ADDRESSES), draw.choice(_RANGES), draw.choice(_NO_RANGES)]
        ),
        operation=draw.choice([*operations, Operation.ALL]),
        permission=draw.choice([Permission.ALLOW, Permission.ALLOW, Permission.DENY]),
    )


def _name(draw: Random) -> str:
    return "".join(draw.choices(_LETTERS, k=draw.randrange(5)))
