from __future__ import annotations

from typing import Any

import pytest
from kafka.admin import ConfigSourceType, ConfigType

from group_coordinator.clients.admin.group_operations import alteration_error, described_configs
from group_coordinator.clients.errors import (
    InvalidConfigurationError,
    InvalidRequestError,
    RequestTimedOutError,
)

SESSION = "consumer.session.timeout.ms"
HEARTBEAT = "consumer.heartbeat.interval.ms"


def test_a_setting_and_where_its_value_comes_from(admin: Any) -> None:
    admin.alter_group_configs({"billing": {SESSION: "50000"}}).all()

    described = admin.describe_group_configs(["billing", "new-group"], [SESSION])

    entry = described["billing"][SESSION]
    assert (entry.name, entry.value, entry.type) == (SESSION, "50000", ConfigType.INT)
    assert (entry.source, entry.is_default) == (ConfigSourceType.DYNAMIC_GROUP_CONFIG, False)
    assert [(one.name, one.value) for one in entry.synonyms] == [
        (SESSION, "50000"),
        ("group.consumer.session.timeout.ms", "45000"),
    ]
    assert (entry.is_read_only, entry.is_sensitive, entry.documentation) == (False, False, None)
    assert list(described.all()) == list(described) == ["billing", "new-group"]
    assert described.all()["new-group"][SESSION].is_default
    assert len(described) == 2


def test_the_documentation_is_told_if_wanted(admin: Any) -> None:
    described = admin.describe_group_configs(["billing"], [SESSION], include_documentation=True)

    assert described["billing"][SESSION].documentation


def test_each_group_has_its_own_outcome(admin: Any) -> None:
    results = admin.alter_group_configs(
        {"billing": {SESSION: "50000"}, "reports": {SESSION: "1", HEARTBEAT: "5000"}}
    )

    results["billing"]
    with pytest.raises(InvalidConfigurationError):
        results["reports"]
    described = admin.describe_group_configs(["reports", ""])
    assert described["reports"][HEARTBEAT].is_default
    with pytest.raises(InvalidRequestError, match="Group name must not be empty"):
        described[""]
    with pytest.raises(InvalidRequestError):
        described.all()


def test_a_value_is_taken_back(admin: Any) -> None:
    admin.alter_group_configs({"billing": {SESSION: "50000"}}).all()

    admin.alter_group_configs({"billing": {SESSION: None}}).all()

    assert admin.describe_group_configs(["billing"])["billing"][SESSION].is_default


def test_settings_can_be_tried(admin: Any) -> None:
    admin.alter_group_configs({"billing": {SESSION: "50000"}}, validate_only=True).all()

    assert admin.describe_group_configs(["billing"])["billing"][SESSION].is_default


def test_a_group_without_an_answer_does_not_hide_the_others(
    admin: Any, monkeypatch: pytest.MonkeyPatch, stage: Any
) -> None:
    send = stage.send

    def lose(request: Any) -> Any:
        stage.is_silent = request.group_id == "lost"
        reply = send(request)
        if stage.is_silent:
            stage.lose_all()
        return reply

    monkeypatch.setattr(stage, "send", lose)

    described = admin.describe_group_configs(["lost", "billing"], [SESSION])

    assert described["billing"][SESSION].value == "45000"
    with pytest.raises(RequestTimedOutError):
        described["lost"]


REFUSED = {"errorCode": 42, "errorMessage": "unknown field"}


def test_an_event_that_could_not_be_read_is_an_error_everywhere() -> None:
    assert isinstance(described_configs(REFUSED), InvalidRequestError)
    assert isinstance(alteration_error(REFUSED), InvalidRequestError)
