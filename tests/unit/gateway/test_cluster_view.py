from __future__ import annotations

import asyncio
import logging
import time

import pytest

from group_coordinator.core.model.requests import Topic
from group_coordinator.gateway.cluster import broker_links, cluster_view
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from group_coordinator.gateway.cluster.broker_links import FAILURES, BrokerLinks
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.health_port import cluster_check, first_trouble
from tests.unit.gateway.scripted_broker import NODE, ORDERS_ID, RACK, Asked, ScriptedBroker
from tests.unit.gateway.stage import LOOPBACK, NEVER_MS, in_loop, until, viewed

NOBODY = Address(LOOPBACK, 1)


@in_loop
async def test_what_is_in_the_cluster() -> None:
    async with ScriptedBroker() as broker:
        view = ClusterView([NOBODY, broker.address], NEVER_MS)
        assert (view.age_s(), view.name_of(ORDERS_ID), view.partition_count("orders")) == (
            None,
            None,
            0,
        )
        await view.look_again()

        assert view.brokers == {NODE: broker.address}
        assert (view.name_of(ORDERS_ID), view.id_of("orders")) == ("orders", ORDERS_ID)
        assert (view.partition_count("orders"), view.knows("refunds")) == (2, False)
        assert view.topic("orders") == Topic("orders", ORDERS_ID, 2, ((RACK,), (RACK,)))
        assert view.topic("refunds") is None
        assert view.leader_of("orders", 1) == broker.address
        assert view.leader_of("orders", 2) is None
        age_s = view.age_s()
        assert age_s is not None
        assert age_s < 5
        view.close()


@in_loop
async def test_without_an_answer_all_stays_and_later_another_connection_is_tried() -> None:
    async with viewed() as (broker, view):
        await view.look_again()
        for writer in tuple(broker.writers):
            writer.transport.abort()
        await until(lambda: not broker.writers)
        broker.nodes[2] = NOBODY
        await view.look_again()
        after_the_failure = set(view.brokers)
        await view.look_again()

        assert after_the_failure == {NODE}
        assert set(view.brokers) == {NODE, 2}


@in_loop
async def test_those_who_ask_while_a_look_is_on_its_way_share_the_next_one() -> None:
    async with viewed() as (broker, view):
        await view.look_again()
        del broker.answers["Metadata"]
        looks = [asyncio.create_task(view.look_again())]
        first = await broker.asked()
        looks += [asyncio.create_task(view.look_again()) for _ in range(5)]
        await asyncio.sleep(0)
        answer(first, broker)
        answer(await broker.asked(), broker)
        await asyncio.gather(*looks)

        assert broker.is_idle()


def test_newcomers_are_spread_over_the_brokers() -> None:
    view = ClusterView([NOBODY], NEVER_MS)
    view.brokers = {number: Address(f"kafka-{number}", 9092) for number in (1, 2, 3)}

    tried = [[one.host for one in view.addresses_of(None)] for _ in range(4)]

    assert [one[0] for one in tried] == ["kafka-1", "kafka-2", "kafka-3", "kafka-1"]
    assert tried[1] == ["kafka-2", "kafka-3", "kafka-1", LOOPBACK]
    assert view.addresses_of(9) == []


@in_loop
async def test_a_gateway_is_ready_while_the_brokers_answer_it() -> None:
    async with viewed() as (_broker, view):
        before = first_trouble([lambda: None, cluster_check(view), lambda: "another"])
        await view.look_again()

        assert before == "no broker has shown the brokers and topics of the cluster for 10 seconds"
        assert first_trouble([cluster_check(view)]) is None


def answer(asked: Asked, broker: ScriptedBroker) -> None:
    assert not asked.body["allowAutoTopicCreation"]
    asked.answer(broker.metadata())


LOGIN = BrokerAccess(
    {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "gateway",
        "sasl_plain_password": "secret",
    }
)


@in_loop
async def test_a_login_that_fails_is_told_without_the_password() -> None:
    async with viewed(LOGIN) as (broker, view):
        broker.answers["SaslAuthenticate"] = lambda _asked: {
            "errorCode": 58,
            "errorMessage": "Authentication failed",
        }
        await view.look_again()

        assert view.age_s() is None
        assert view.trouble is not None
        assert "the gateway's login failed: Authentication failed" in view.trouble
        assert "secret" not in view.trouble


@in_loop
async def test_a_mechanism_that_brokers_do_not_know_is_told_with_those_that_they_do() -> None:
    async with viewed(LOGIN) as (broker, view):
        broker.answers["SaslHandshake"] = lambda _asked: {
            "errorCode": 33,
            "mechanisms": ["GSSAPI", "OAUTHBEARER"],
        }
        await view.look_again()

        assert view.trouble is not None
        assert "sasl.mechanism = PLAIN: the brokers offer GSSAPI, OAUTHBEARER" in view.trouble


@in_loop
async def test_a_login_at_a_listener_without_one_is_told_with_the_way_out() -> None:
    async with viewed(LOGIN) as (broker, view):
        broker.answers["SaslHandshake"] = lambda _asked: {"errorCode": 34, "mechanisms": []}
        await view.look_again()

        assert view.trouble is not None
        assert view.trouble.endswith("the brokers offer no login here: correct security.protocol")


@in_loop
async def test_a_broker_that_hangs_up_or_is_silent_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with viewed() as (broker, view):
        del broker.answers["Metadata"]
        look = asyncio.create_task(view.look_again())
        (await broker.asked()).hang_up()
        await look
        told = [view.trouble]
        monkeypatch.setattr(cluster_view, "LOOK_TIMEOUT_S", 0.01)
        await view.look_again()

        assert [*told, view.trouble] == [
            "the broker closed the connection: if it always does, correct security.protocol",
            "no response within 0 s",
        ]


@in_loop
async def test_a_mechanism_that_lacks_its_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_library(**_options: object) -> None:
        raise RuntimeError("GSSAPI lib not found!")

    monkeypatch.setattr(broker_links, "get_sasl_mechanism", lambda _name: without_library)

    async with viewed(LOGIN) as (_broker, view):
        await view.look_again()

        assert view.trouble is not None
        assert "the gateway's login failed: GSSAPI lib not found!" in view.trouble


@in_loop
async def test_a_defect_of_a_look_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async with viewed() as (_broker, view):
        monkeypatch.setattr(view, "_add", lambda _found: {}["nothing of this name"])
        with pytest.raises(KeyError, match="nothing of this name"):
            await view.look_again()


@in_loop
async def test_before_its_session_ends_it_logs_in_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(broker_links, "monotonic", lambda: now_s)

    async with viewed(LOGIN) as (broker, view):
        broker.session_ms = 60_000
        connections = []
        for step_s in (0.0, 53.0, 2.0):
            now_s += step_s
            await view.look_again()
            assert view.trouble is None
            connections.append(view._link)  # noqa: SLF001 - nothing else tells

        assert connections[0] is connections[1]
        assert connections[1] is not connections[2]


@in_loop
async def test_whether_there_is_an_authorizer(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(cluster_view, "monotonic", lambda: now_s)

    async with viewed() as (broker, view):
        assert view.has_authorizer
        await view.look_again()
        assert not view.has_authorizer
        broker.has_authorizer = True
        now_s += 29.9
        await view.look_again()
        assert not view.has_authorizer
        now_s += 0.2
        await view.look_again()
        assert view.has_authorizer


@in_loop
async def test_rights_count_while_one_of_the_brokers_has_an_authorizer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(cluster_view, "monotonic", lambda: now_s)

    with caplog.at_level(logging.INFO):
        async with ScriptedBroker() as first, ScriptedBroker() as second:
            first.nodes[2] = second.address
            second.has_authorizer = True
            view = ClusterView([first.address], NEVER_MS)
            found = []
            for has_one in (True, False, True):
                second.has_authorizer = has_one
                await view.look_again()
                found.append(view.has_authorizer)
                now_s += 30.1
            view.close()

            assert found == [True, False, True]

    assert [record.getMessage() for record in caplog.records] == [
        "Rights of clients are not checked: no broker has an authorizer",
        "Rights of clients are checked: nodes with an authorizer: [2]",
    ]


@in_loop
async def test_a_broker_that_never_said_whether_it_has_an_authorizer_may_have_one() -> None:
    async with ScriptedBroker() as first, ScriptedBroker() as second:
        first.nodes[2] = NOBODY
        view = ClusterView([first.address], NEVER_MS)
        await view.look_again()
        before = view.has_authorizer
        del first.nodes[2]
        first.nodes[3] = second.address
        await view.look_again()

        # Node 3 is new, and so all of them are asked at once.
        assert (before, view.has_authorizer) == (True, False)
        view.close()


@in_loop
async def test_without_a_broker_a_topic_stays_as_it_was() -> None:
    async with viewed() as (_broker, view):
        await view.look_again()
        view.brokers, view._bootstrap = {1: NOBODY}, ()  # noqa: SLF001 - as if it had moved
        view.close()
        await view.look_for(["refunds", "orders"])

        assert (view.knows("orders"), view.knows("refunds")) == (True, False)
        assert view.trouble is not None


@in_loop
async def test_a_question_that_fails_on_the_last_connection_leaves_the_next_one_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One is opened for the next before the session of the last one ends."""
    now_s = time.monotonic()
    monkeypatch.setattr(broker_links, "monotonic", lambda: now_s)

    async with ScriptedBroker() as broker:
        broker.session_ms = 60_000
        del broker.answers["DescribeAcls"]
        links = BrokerLinks(LOGIN)
        late = asyncio.create_task(links.ask(broker.address, "DescribeAcls", {}))
        asked = await broker.asked()
        now_s += 55.0
        await links.knows(broker.address, "Metadata")
        asked.hang_up()
        with pytest.raises(FAILURES):
            await late
        await until(lambda: asked.writer not in broker.writers)
        [second] = broker.writers
        await links.knows(broker.address, "Metadata")

        assert broker.writers == {second}
        links.close()
