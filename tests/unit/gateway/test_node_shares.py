from __future__ import annotations

from tests.unit.gateway.stage import Stage, on_stage

GROUPS = ["audit", "billing", "fraud", "mail", "stock"]
NO_PORT = 70_000


async def with_nodes(stage: Stage, *node_ids: int) -> None:
    """The cluster has these nodes too."""
    stage.broker.nodes |= dict.fromkeys(node_ids, stage.broker.address)
    await stage.view.look_again()
    stage.gateway.open_ports()


async def listed_at(stage: Stage, node_id: int | None) -> list[str]:
    """At a node's port, or at the bootstrap port."""
    client = await stage.client(node_id)
    number = len(stage.job.questions)
    client.ask("ListGroups", 5)
    question = await stage.job.asked(number)
    question.answer.set_result({"groups": [{"groupId": group_id} for group_id in GROUPS]})
    _, body = await client.answer("ListGroups", 5)
    return [each["groupId"] for each in body["groups"]]


@on_stage()
async def test_each_node_lists_the_groups_that_it_coordinates_and_the_bootstrap_port_all(
    stage: Stage,
) -> None:
    await with_nodes(stage, 2, 3)

    assert {node: await listed_at(stage, node) for node in (1, 2, 3, None)} == {
        1: ["audit", "billing", "mail"],
        2: ["fraud"],
        3: ["stock"],
        None: GROUPS,
    }


@on_stage()
async def test_groups_of_a_node_without_a_port_are_listed_where_clients_look_for_them(
    stage: Stage,
) -> None:
    await with_nodes(stage, 3, NO_PORT)
    client = await stage.client()
    client.ask("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": GROUPS})
    _, body = await client.answer("FindCoordinator", 4)

    assert {found["key"]: found["nodeId"] for found in body["coordinators"]} == {
        "audit": 3,
        "billing": 1,
        "fraud": 1,
        "mail": 1,
        "stock": 1,
    }
    assert {node: await listed_at(stage, node) for node in (1, 3)} == {
        1: ["billing", "fraud", "mail", "stock"],
        3: ["audit"],
    }


@on_stage()
async def test_without_a_broker_there_is_nobody_who_has_a_share(stage: Stage) -> None:
    stage.view.brokers = {}

    assert await listed_at(stage, 1) == []
