from __future__ import annotations

import json
from pathlib import Path

import pytest

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.held_rights import AclsUnreadableError
from group_coordinator.core.acls import Acls
from group_coordinator.driver.tasks.acls import reader_of_acls
from group_coordinator.settings import JobSettings, load
from tests.support.acls import rules

NOWHERE = Connection("127.0.0.1:1")
RULE = {
    "resourceType": "GROUP",
    "resourceName": "billing",
    "patternType": "LITERAL",
    "principal": "User:a",
    "host": "*",
    "operation": "READ",
    "permissionType": "ALLOW",
}


def configured(*settings: str) -> JobSettings:
    return load(overrides=settings).job


def read(*settings: str) -> Acls | None:
    with reader_of_acls(configured(*settings), NOWHERE) as reader:
        return None if reader is None else reader()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "rules.json"
    found.write_text(json.dumps({"acls": [RULE], "superUsers": ["User:admin"]}))
    return found


def test_by_default_there_are_no_rules() -> None:
    assert read() is None


def test_those_whom_settings_and_file_name_may_do_everything(file: Path) -> None:
    settings = (
        *("acls.source=file", f"acls.file={file}"),
        *("super.users= User:root;;User:admin ", "allow.everyone.if.no.acl.found=true"),
    )

    assert read(*settings) == Acls(
        rules("ALLOW User:a READ GROUP billing"),
        ("User:root", "User:admin"),
        allow_everyone_if_no_acl_found=True,
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "acls: not JSON: Input data was truncated"),
        ("[]", "rules: Expected `object`, got `array`"),
        (
            json.dumps({"acls": [{**RULE, "operation": "read"}]}),
            "acls[0].operation = \"read\": Invalid enum value 'read'",
        ),
        (
            json.dumps({"acls": [], "superUsers": ["admin"]}),
            'superUsers[0] = "admin": is not TYPE:NAME, such as User:billing',
        ),
    ],
)
def test_a_file_that_says_no_rules(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "rules.json"
    file.write_text(text)

    with pytest.raises(AclsUnreadableError) as refused:
        read("acls.source=file", f"acls.file={file}")

    assert str(refused.value) == f"acls.file = {file}: {why}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AclsUnreadableError, match="No such file"):
        read("acls.source=file", f"acls.file={tmp_path}/nothing.json")


def test_a_super_user_is_a_principal() -> None:
    with pytest.raises(AclsUnreadableError, match=r"super\.users = .*admin.*: is not TYPE:NAME"):
        read("acls.source=file", "acls.file=rules.json", "super.users=User:root;admin")
