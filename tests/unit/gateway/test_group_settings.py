from __future__ import annotations

import asyncio

from tests.unit.gateway.groups_driver import Groups, in_loop


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
