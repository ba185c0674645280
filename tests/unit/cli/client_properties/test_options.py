from __future__ import annotations

from pathlib import Path
from ssl import TLSVersion
from typing import Any

import click
import pytest

from group_coordinator.cli.client_properties.options import client_options, options_of_both


def written(folder: Path, text: str) -> Path:
    file = folder / "client.properties"
    file.touch(0o600)
    file.write_text(text, encoding="utf-8")
    return file


def read(folder: Path, text: str) -> dict[str, Any]:
    return client_options(written(folder, text))


def test_a_login_with_a_password(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = read(
        tmp_path,
        """\
# for the billing team
security.protocol=SASL_PLAINTEXT
sasl.mechanism = SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username='billing' password="s3;cret";
client.id=shop
bootstrap.servers=elsewhere:9092
""",
    )

    assert options == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "billing",
        "sasl_plain_password": "s3;cret",
        "client_id": "shop",
    }
    assert capsys.readouterr().err == ""


def test_there_may_be_no_file() -> None:
    assert client_options(None) == {}
    assert options_of_both(None) == ({}, {})


def test_numbers_and_truth_values_get_their_types(tmp_path: Path) -> None:
    options = read(
        tmp_path,
        "request.timeout.ms=5000\nssl.check.hostname=False\nsasl.plain.password=1234\n"
        "receive.buffer.bytes=-1\nsend.buffer.bytes=65536\nconnections.max.idle.ms=-1\n",
    )

    assert options == {
        "request_timeout_ms": 5000,
        "ssl_check_hostname": False,
        "sasl_plain_password": "1234",
        "send_buffer_bytes": 65536,
        "connections_max_idle_ms": 2_147_483_647,
    }


@pytest.mark.parametrize(
    ("property_", "why"),
    [
        (
            "request.timeout.ms=soon",
            "request.timeout.ms = soon is not a number: give a whole number",
        ),
        ("request.timeout.ms=1.5", "request.timeout.ms = 1.5 is not a number: give a whole number"),
        (
            "request.timeout.ms=1_000",
            "request.timeout.ms = 1_000 is not a number: give a whole number",
        ),
        ("request.timeout.ms=", "request.timeout.ms =  is not a number: give a whole number"),
        (
            f"retry.backoff.ms={'9' * 5_000}",
            f"retry.backoff.ms = {'9' * 5_000} is not a number: give a whole number",
        ),
        ("send.buffer.bytes=64k", "send.buffer.bytes = 64k is not a number: give a whole number"),
        *(
            (
                f"ssl.check.hostname={value}",
                f"ssl.check.hostname = {value} is not a boolean: give true or false",
            )
            for value in ("yes", "1", "on", "0", "true;", "fals")
        ),
        ("nonsense", "'nonsense' is not KEY=VALUE"),
    ],
)
def test_a_value_that_cannot_be_used(tmp_path: Path, property_: str, why: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        read(tmp_path, f"client.id=shop\n{property_}\n")

    assert str(refused.value) == f"{tmp_path}/client.properties: {why}"


def test_what_has_no_effect_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = read(
        tmp_path,
        """\
default.api.timeout.ms=60000
session.timeout.ms=45000
acks=all
request.timeout.ms=20000
ssl.enabled.protocols=TLSv1.3
sasl.jaas.config=M required username=u password=p extra-password=x;
""",
    )

    assert options == {
        "request_timeout_ms": 20_000,
        "ssl_enabled_protocols": (TLSVersion.TLSv1_3, TLSVersion.TLSv1_3),
        "sasl_plain_username": "u",
        "sasl_plain_password": "p",
    }
    assert capsys.readouterr().err == (
        f"{tmp_path}/client.properties: default.api.timeout.ms, session.timeout.ms, acks, "
        "extra-password in sasl.jaas.config have no effect here\n"
    )


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("sesion.timeout.ms", "; did you mean session.timeout.ms?"),
        ("ssl.trustore.location", "; did you mean ssl.truststore.location?"),
        ("schema.registry.url", ""),
        ("socket.options", ""),
    ],
)
def test_a_property_that_no_client_has_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, advice: str
) -> None:
    assert read(tmp_path, f"{key}=x\nclient.id=shop\n") == {"client_id": "shop"}
    assert capsys.readouterr().err == (
        f"{tmp_path}/client.properties: {key} is not a property of Kafka's clients{advice}\n"
    )


def test_sparks_client_gets_what_every_client_of_kafka_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(
        tmp_path,
        """\
security.protocol=sasl_plaintext
bootstrap.servers=elsewhere:9092
ssl.enabled.protocols=TLSv1.3
group.id=billing
auto.offset.reset=earliest
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
ssl.cafile=/etc/ca.pem
""",
    )

    python, java = options_of_both(file)

    assert python == {"security_protocol": "SASL_PLAINTEXT", "ssl_cafile": "/etc/ca.pem"}
    assert java == {"security.protocol": "sasl_plaintext", "ssl.enabled.protocols": "TLSv1.3"}
    assert capsys.readouterr().err == (
        f"{file}: group.id, auto.offset.reset, key.deserializer have no effect here\n"
    )
