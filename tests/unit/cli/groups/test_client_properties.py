from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from group_coordinator.cli.groups.client_properties import (
    PropertiesError,
    java_properties,
    read_client_properties,
)


def read(folder: Path, text: str) -> dict[str, Any]:
    file = folder / "client.properties"
    file.write_text(text, encoding="utf-8")
    return read_client_properties(file)


def test_a_login_with_a_password(tmp_path: Path) -> None:
    options = read(
        tmp_path,
        """\
# for the billing team
security.protocol=SASL_SSL
sasl.mechanism = SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="billing" password="s3;cret";
ssl.cafile=/etc/ca.pem
bootstrap.servers=elsewhere:9092
""",
    )

    assert options == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "billing",
        "sasl_plain_password": "s3;cret",
        "ssl_cafile": "/etc/ca.pem",
    }


@pytest.mark.parametrize(
    "text",
    [
        "client.id=shop",
        "client.id: shop",
        "client.id shop",
        "client.id = \\\n    shop\n",
        "client.id=sh\\\r\n\top",
        "! a comment\n  # another one = 1\n\n  client.id=shop",
        "client\\u002eid=sho\\u0070",
        "client.id=shop\nclient.id:shop",
    ],
)
def test_java_s_ways_to_write_a_property(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == {"client_id": "shop"}


def test_escapes_stand_for_their_characters(tmp_path: Path) -> None:
    options = read(
        tmp_path,
        r'sasl.jaas.config=Module required username="J\u00fcrgen" password="a\:b\=c\td";',
    )

    assert options == {"sasl_plain_username": "Jürgen", "sasl_plain_password": "a:b=c\td"}


def test_a_name_without_a_value_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path, "client.id=\n") == {"client_id": ""}


def test_an_escape_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(PropertiesError, match=r"client\.properties: Invalid .u escape"):
        read(tmp_path, r"client.id=\u00e")


@pytest.mark.parametrize("key", ["kafka.client", "selector", "socket.options", "ssl.context"])
def test_what_no_text_stands_for(tmp_path: Path, key: str) -> None:
    with pytest.raises(PropertiesError, match=f"{key} is not a property that kafka-python has"):
        read(tmp_path, f"{key}=x\n")


@pytest.mark.parametrize("value", ["soon", "1.5", "1_0", "", "9" * 5_000])
def test_a_number_that_is_none(tmp_path: Path, value: str) -> None:
    with pytest.raises(PropertiesError) as refused:
        read(tmp_path, f"request.timeout.ms={value}\n")

    file = tmp_path / "client.properties"
    assert str(refused.value) == f"{file}: request.timeout.ms = {value} is not a number"


def test_numbers_and_truth_values_get_their_types(tmp_path: Path) -> None:
    options = read(
        tmp_path,
        "request.timeout.ms=5000\nssl.check.hostname=false\nsasl.plain.password=1234\n",
    )

    assert options == {
        "request_timeout_ms": 5000,
        "ssl_check_hostname": False,
        "sasl_plain_password": "1234",
    }


def test_a_property_that_kafka_python_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(PropertiesError, match=r"ssl\.truststore\.location is not a property"):
        read(tmp_path, "ssl.truststore.location=/etc/trust.jks\n")


def test_a_line_that_is_no_property(tmp_path: Path) -> None:
    with pytest.raises(PropertiesError, match="'nonsense' is not KEY=VALUE"):
        read(tmp_path, "nonsense\n")


def test_javas_clients_get_the_properties_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SASL_SSL\nbootstrap.servers=elsewhere:9092\nretries = 3\n")

    assert java_properties(file) == {"security.protocol": "SASL_SSL", "retries": "3"}
    assert java_properties(None) == {}
