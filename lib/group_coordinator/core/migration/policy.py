"""Which online conversions group.consumer.migration.policy allows; empty groups change their kind under any policy.

Told in: stories/migration/upgrade_conditions.py, stories/migration/converting.py, stories/migration/downgrading.py.
"""

from __future__ import annotations

from group_coordinator.core.model.config import CoordinatorConfig


def allows_upgrade(config: CoordinatorConfig) -> bool:
    """Whether the first member of the consumer protocol turns a classic group with members into a consumer group."""
    return _policy(config) in ("upgrade", "bidirectional")


def allows_downgrade(config: CoordinatorConfig) -> bool:
    """Whether a consumer group turns classic when its last member of the consumer protocol is gone."""
    return _policy(config) in ("downgrade", "bidirectional")


def allows_mixed_groups(config: CoordinatorConfig) -> bool:
    """Whether members of the classic protocol may join a consumer group."""
    return _policy(config) != "disabled"


def _policy(config: CoordinatorConfig) -> str:
    return config.group_consumer_migration_policy.lower()
