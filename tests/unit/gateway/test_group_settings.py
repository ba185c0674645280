from __future__ import annotations

import asyncio

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.groups.group_tables import GroupSettings
from group_coordinator.gateway.job.job_channel import GroupRequest
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from tests.unit.gateway.groups_driver import Groups
from tests.unit.gateway.stage import in_loop


async def altered(groups: Groups, group_id: str) -> None:
    config = {"name": "consumer.session.timeout.ms", "configOperation": 0, "value": "50000"}
    resource = {"resourceType": 32, "resourceName": group_id, "configs": [config]}
    await groups.ask("IncrementalAlterConfigs", 1, resources=[resource])


@in_loop
async def test_a_client_that_goes_while_it_lists_settings_takes_none_of_them_with_it() -> None:
    groups = Groups()
    await altered(groups, "billing")
    gone = asyncio.ensure_future(groups.apis.groups_with_settings())
    await asyncio.sleep(0)
    gone.cancel()

    assert await groups.apis.groups_with_settings() == ["billing"]


@in_loop
async def test_who_lists_settings_at_the_same_time_hears_of_all_of_them() -> None:
    groups = Groups()
    await altered(groups, "billing")

    assert await asyncio.gather(*(groups.apis.groups_with_settings() for _ in range(2))) == [
        ["billing"],
        ["billing"],
    ]
    assert [each.api for each in groups.job.asked] == ["IncrementalAlterConfigs", "DescribeConfigs"]


class SilentJob:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, question: GroupRequest) -> asyncio.Future[Body]:
        self.asked.append(question.group_id)
        answer: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        answer.set_result({"results": []})
        return answer


@in_loop
async def test_a_list_asks_about_five_hundred_groups_those_that_were_altered_last() -> None:
    job = SilentJob()
    settings = GroupSettings(job, None, 1_000)
    for number in range(1_200):
        settings.see(Sighting(str(number), 0, SightingKind.SETTINGS))

    for _ in range(3):
        await settings.groups()
    assert [len(job.asked), *map(int, job.asked)] == [
        1_200,
        *range(700, 1_200),
        *range(200, 700),
        *range(200),
    ]


@in_loop
async def test_long_names_of_altered_groups_are_not_all_kept() -> None:
    job = SilentJob()
    settings = GroupSettings(job, None, 1_000)
    for number in range(500):
        settings.see(Sighting(str(number).ljust(32_000), 0, SightingKind.SETTINGS))

    await settings.groups()
    assert len(job.asked) == 130
