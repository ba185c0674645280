"""Settings of one group, asked for and given."""

from __future__ import annotations

from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    DescribeConfigs,
)
from group_coordinator.core.model.responses import AlterConfigsResponse, DescribedConfig
from group_coordinator.testing import GroupDriver, Outcome


def alter(
    driver: GroupDriver, *changes: ConfigChange, validates_only: bool = False
) -> Outcome[AlterConfigsResponse]:
    return driver.send(AlterConfigs(driver.group.group_id, changes, validates_only), 1)


def setting(name: str, value: str | None) -> ConfigChange:
    return ConfigChange(name, ConfigOperation.SET, value)


def deletion(name: str) -> ConfigChange:
    return ConfigChange(name, ConfigOperation.DELETE, None)


def described(driver: GroupDriver, *names: str) -> tuple[DescribedConfig, ...]:
    request = DescribeConfigs(
        driver.group.group_id, names, wants_synonyms=True, wants_documentation=False
    )
    return driver.send(request, 4).response.configs
