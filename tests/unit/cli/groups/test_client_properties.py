from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from group_coordinator.cli.groups.client_properties import PropertiesError, read_client_properties


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
