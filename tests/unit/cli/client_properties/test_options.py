from __future__ import annotations

from pathlib import Path
from ssl import TLSVersion
from typing import Any

import click
import pytest
from click.testing import CliRunner

from group_coordinator.cli.client_properties.file import PropertiesError, read_properties
from group_coordinator.cli.client_properties.options import client_options, options_of_both
from group_coordinator.cli.main import main


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


def test_what_has_no_effect_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_sparks_client_gets_the_common_ones(
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


COMMANDS = ["groups --list", "consume --topic orders", "gateway", "positions", "mirror"]


def said_of(login: Path, line: str) -> str:
    """The last line of a command that refuses this login."""
    refused = CliRunner().invoke(main, [*line.split(), "--command-config", str(login)])
    assert refused.exit_code == 2
    return refused.stderr.splitlines()[-1]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_login_without_a_user_names_file_and_property(tmp_path: Path, line: str) -> None:
    login = tmp_path / "client.properties"
    login.write_text("security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\n")

    assert said_of(login, line) == (
        f"Error: {login}: sasl.mechanism = PLAIN needs username and password in sasl.jaas.config; kafka-python calls them "
        "sasl_plain_username and sasl_plain_password"
    )


@pytest.mark.parametrize("line", COMMANDS)
def test_a_protocol_that_is_misspelt_names_file_and_property(tmp_path: Path, line: str) -> None:
    login = tmp_path / "client.properties"
    login.write_bytes("# für alle\nsecurity.protocol=SASLSSL\n".encode("latin-1"))

    assert said_of(login, line) == (
        f"Error: {login}: security.protocol = SASLSSL: it must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    )


def test_a_package_that_the_login_of_the_settings_needs_is_named() -> None:
    login = ["--set", "security.protocol=SASL_SSL", "--set", "sasl.mechanism=AWS_MSK_IAM"]

    refused = CliRunner().invoke(main, ["groups", "--list", *login])

    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == (
        "Error: sasl.mechanism = AWS_MSK_IAM needs botocore: pip install 'spark-group-coordinator[msk]'"
    )


def read_raw(folder: Path, content: bytes) -> dict[str, str]:
    file = folder / "client.properties"
    file.write_bytes(content)
    return read_properties(file)


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
        "client.id=market\nclient.id:shop",
    ],
)
def test_java_s_ways_to_write_a_property(tmp_path: Path, text: str) -> None:
    assert read_raw(tmp_path, text.encode()) == {"client.id": "shop"}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_a_file_in_latin_1_or_utf_8(tmp_path: Path, encoding: str) -> None:
    text = "# für Jürgen\nclient.id=Kürbis\nsasl.mechanism=PLAIN\n"

    assert read_raw(tmp_path, text.encode(encoding)) == {
        "client.id": "Kürbis",
        "sasl.mechanism": "PLAIN",
    }


def test_escapes_stand_for_their_characters(tmp_path: Path) -> None:
    text = r'sasl.jaas.config=M required username="J\u00fcrgen" password="a\:b\=c\td\\"e";'

    assert read_raw(tmp_path, text.encode()) == {
        "sasl.jaas.config": 'M required username="Jürgen" password="a:b=c\td\\"e";'
    }


def test_a_name_without_a_value_is_empty(tmp_path: Path) -> None:
    assert read_raw(tmp_path, b"client.id=\n") == {"client.id": ""}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"client.id=\u00e", r"Invalid \u escape sequence"),
        ("nonsense\n", "'nonsense' is not KEY=VALUE"),
    ],
)
def test_a_line_that_is_no_property(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(PropertiesError) as refused:
        read_raw(tmp_path, text.encode())

    assert str(refused.value).startswith(f"{tmp_path}/client.properties: {why}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PropertiesError) as refused:
        read_properties(tmp_path / "missing")

    assert str(refused.value) == f"{tmp_path}/missing: No such file or directory"
