from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from group_coordinator import settings
from group_coordinator.security import Secret, Security
from group_coordinator.settings import SettingsError

LOGIN = ("security.protocol=SASL_SSL", "sasl.username=billing")
PASSWORD = 'hush;"\\'  # noqa: S105 - of no one
ENVIRONMENT = {"GROUP_COORDINATOR_SASL_PASSWORD": PASSWORD}


def security(*overrides: str) -> Security:
    return settings.load(overrides=overrides, environment=ENVIRONMENT).job.security


def pem(folder: Path, name: str) -> Path:
    file = folder / name
    file.write_text("-----BEGIN CERTIFICATE-----\n")
    return file


def test_without_a_login() -> None:
    plain = settings.load(environment={}).job.security

    assert plain.java_options() == {"security.protocol": "PLAINTEXT"}
    assert plain.python_options() == {"security_protocol": "PLAINTEXT"}


def test_a_login_as_both_sides_want_it() -> None:
    login = security(*LOGIN)

    assert login.java_options() == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            r'username="billing" password="hush;\"\\";'
        ),
    }
    assert login.python_options() == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "billing",
        "sasl_plain_password": PASSWORD,
    }


def test_a_login_by_tokens() -> None:
    login = security(
        *LOGIN,
        "sasl.mechanism=OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url=https://login/token",
        "sasl.oauthbearer.scope=groups",
    )

    assert login.java_options() == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            r'clientId="billing" clientSecret="hush;\"\\" scope="groups";'
        ),
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.oauthbearer.token.endpoint.url": "https://login/token",
    }
    assert login.python_options() == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "OAUTHBEARER",
    }


def test_a_login_by_the_identity_that_amazon_gave_the_machine() -> None:
    login = security("security.protocol=SASL_SSL", "sasl.mechanism=AWS_MSK_IAM")

    assert login.java_options() == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
        "sasl.client.callback.handler.class": (
            "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
        ),
    }
    assert login.python_options() == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "AWS_MSK_IAM",
    }


def test_certificates_as_both_sides_want_them(tmp_path: Path) -> None:
    trusted, own = pem(tmp_path, "trusted.pem"), pem(tmp_path, "own.pem")
    encrypted = security(
        "security.protocol=SSL",
        f"ssl.truststore.location={trusted}",
        f"ssl.keystore.location={own}",
        "ssl.key.password=key-hush",
    )

    assert encrypted.java_options() == {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(own),
        "ssl.key.password": "key-hush",
    }
    assert encrypted.python_options() == {
        "security_protocol": "SSL",
        "ssl_cafile": str(trusted),
        "ssl_certfile": str(own),
        "ssl_keyfile": str(own),
        "ssl_password": "key-hush",
    }


def test_an_override_wins_over_the_environment() -> None:
    assert security(*LOGIN, "sasl.password=other").sasl_password.reveal() == "other"


def test_a_secret_does_not_show() -> None:
    chosen = settings.load(overrides=LOGIN, environment=ENVIRONMENT)
    secret = chosen.job.security.sasl_password

    assert "hush" not in f"{chosen} {chosen.job.security.python_options()} {secret} {secret!r}"
    assert secret.encode() == PASSWORD.encode()
    assert secret.reveal() == PASSWORD
    assert str(Secret("")) == ""


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["security.protocol=SASL_SSL"], "security.protocol = SASL_SSL: needs sasl.username"),
        (
            LOGIN,
            (
                "security.protocol = SASL_SSL: needs sasl.password, or the environment variable "
                "GROUP_COORDINATOR_SASL_PASSWORD"
            ),
        ),
        (
            ["sasl.username=billing"],
            "sasl.username = billing: security.protocol = PLAINTEXT does not use it",
        ),
        (
            ["ssl.truststore.location=ca.pem"],
            "ssl.truststore.location = ca.pem: security.protocol = PLAINTEXT does not use it",
        ),
        (
            ["security.protocol=SSL", "ssl.keystore.location=/absent.pem"],
            "ssl.keystore.location = /absent.pem: no such file",
        ),
        (
            ["sasl.mechanism=GSSAPI"],
            (
                "sasl.mechanism = GSSAPI: Expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
                "OAUTHBEARER, AWS_MSK_IAM"
            ),
        ),
        (
            [*LOGIN, "sasl.password=p", "sasl.mechanism=OAUTHBEARER"],
            "sasl.mechanism = OAUTHBEARER: needs sasl.oauthbearer.token.endpoint.url",
        ),
        (
            [*LOGIN, "sasl.password=p", "sasl.oauthbearer.scope=groups"],
            "sasl.oauthbearer.scope = groups: sasl.mechanism = SCRAM-SHA-512 does not use it",
        ),
        (
            ["sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.scope=groups"],
            "sasl.oauthbearer.scope = groups: security.protocol = PLAINTEXT does not use it",
        ),
        (
            [*LOGIN, "sasl.mechanism=AWS_MSK_IAM"],
            "sasl.username = billing: sasl.mechanism = AWS_MSK_IAM does not use it",
        ),
        (
            ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=AWS_MSK_IAM"],
            "sasl.mechanism = AWS_MSK_IAM: needs security.protocol = SASL_SSL",
        ),
        (["sasl.password:hush"], "'sasl.password' is not KEY=VALUE"),
    ],
)
def test_what_does_not_fit_together_is_named(overrides: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        settings.load(overrides=overrides, environment={})


TOKEN_LOGIN = (*LOGIN, "sasl.mechanism=OAUTHBEARER")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "http://login.example/token",
            "http://login.example/token: the client's secret would be sent without encryption: give an https URL",
        ),
        (
            "http://127.0.0.1.login.example/token",
            (
                "http://127.0.0.1.login.example/token: the client's secret would be sent without encryption: give an "
                "https URL"
            ),
        ),
        ("file:///etc/passwd", "file:///etc/passwd: give an https URL"),
        ("login.example/token", "login.example/token: give an https URL"),
        ("https:///token", "https:///token: give an https URL"),
        ("https://[::1/token", "https://[::1/token: give an https URL"),
        (
            "https://job:hush@login.example/token",
            "https://***@login.example/token: give name and password as sasl.username and sasl.password",
        ),
    ],
)
def test_a_token_endpoint_that_is_not_safe(url: str, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        security(*TOKEN_LOGIN, f"sasl.oauthbearer.token.endpoint.url={url}")

    assert str(refused.value) == f"sasl.oauthbearer.token.endpoint.url = {message}"


@pytest.mark.parametrize(
    "url", ["http://localhost:8080/token", "http://127.8.0.1/t", "http://[::1]:8/t", "HTTPS://a/t"]
)
def test_a_token_endpoint_by_tls_or_on_this_machine(url: str) -> None:
    found = security(*TOKEN_LOGIN, f"sasl.oauthbearer.token.endpoint.url={url}")

    assert found.sasl_oauthbearer_token_endpoint_url == url


def test_a_password_that_is_no_text_is_not_shown(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f"sasl.password = [{json.dumps('hush')}]\n")

    with pytest.raises(SettingsError, match=r"^sasl\.password = \*\*\*: Expected `str`$"):
        settings.load(mine)
