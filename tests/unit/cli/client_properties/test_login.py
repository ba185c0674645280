from __future__ import annotations

import pytest

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.cli.client_properties.security import (
    login_options,
    unused_by_login,
    used_by_login,
)

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
ENDPOINT = "https://login.example/token"


@pytest.mark.parametrize(
    ("module", "user", "password"),
    [
        (f"{SCRAM} required username='KEY' password='S3C';", "KEY", "S3C"),
        (f"{SCRAM} required username=KEY password=S3C;", "KEY", "S3C"),
        (f'{SCRAM} required username="K\\"Y" password="S\\\\3\\103";', 'K"Y', "S\\3C"),
        (f'{SCRAM} required extra-password="x" username=KEY password="S3C";', "KEY", "S3C"),
    ],
)
def test_a_name_and_a_password(module: str, user: str, password: str) -> None:
    assert login_options({"sasl.jaas.config": module}) == {
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }


@pytest.mark.parametrize("protocol", ["sasl_plaintext", "Sasl_PlainText", "SASL_PLAINTEXT"])
def test_a_protocol_in_any_case(protocol: str) -> None:
    assert login_options({"security.protocol": protocol}) == {"security_protocol": "SASL_PLAINTEXT"}


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        (
            {"security.protocol": "SASLSSL"},
            "security.protocol = SASLSSL: it must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        ),
        (
            {"sasl.mechanism": "SCRAM-SHA512"},
            (
                "sasl.mechanism = SCRAM-SHA512: it must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, "
                "AWS_MSK_IAM, GSSAPI"
            ),
        ),
        (
            {"sasl.jaas.config": f"{SCRAM} required username=u password=1hush;"},
            'sasl.jaas.config: password has no value, or a value that needs quotes: write password="..."',
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": f"{BEARER} required clientId=billing clientSecret=hush;",
            },
            (
                "sasl.mechanism = OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in "
                "sasl.jaas.config"
            ),
        ),
    ],
)
def test_what_is_no_login_is_named(properties: dict[str, str], why: str) -> None:
    with pytest.raises(PropertiesError) as refused:
        login_options(properties)

    assert str(refused.value) == why


@pytest.mark.parametrize(
    "who",
    [
        {"sasl.jaas.config": f"{BEARER} required clientId='billing' clientSecret='hush' scope=s;"},
        {
            "sasl.jaas.config": f"{BEARER} required;",
            "sasl.oauthbearer.client.credentials.client.id": "billing",
            "sasl.oauthbearer.client.credentials.client.secret": "hush",
            "sasl.oauthbearer.scope": "s",
        },
    ],
)
def test_a_login_by_token(who: dict[str, str]) -> None:
    properties = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        **who,
    }

    options = login_options(properties)

    assert options["sasl_mechanism"] == "OAUTHBEARER"
    assert options["sasl_oauth_token_provider"].client_id == "billing"
    assert used_by_login(properties) >= properties.keys()
    assert unused_by_login(properties) == []


def test_a_login_at_msk_as_its_pages_show_it() -> None:
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName=dev;",
        "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
    }

    assert login_options(properties) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "AWS_MSK_IAM",
    }
    assert used_by_login(properties) >= properties.keys()
    assert unused_by_login(properties) == ["awsProfileName in sasl.jaas.config"]


def test_a_handler_of_ones_own_is_not_used() -> None:
    handler = {"sasl.client.callback.handler.class": "com.example.Handler"}

    assert handler.keys().isdisjoint(used_by_login(handler))
