from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from kafka.errors import KafkaConnectionError, SaslAuthenticationFailedError

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.token_provider import TokenProvider
from group_coordinator.clients.errors import LoginRefusedError
from group_coordinator.security import Secret, Security
from tests.support.token_endpoint import CLIENT_ID, CLIENT_SECRET, TokenEndpoint, token_endpoint


@pytest.fixture
def endpoint() -> Iterator[TokenEndpoint]:
    with token_endpoint() as started:
        yield started


def login(url: str, scope: str = "") -> Security:
    overrides = [
        *("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER"),
        *(f"sasl.username={CLIENT_ID}", f"sasl.password={CLIENT_SECRET}"),
        *(f"sasl.oauthbearer.token.endpoint.url={url}", f"sasl.oauthbearer.scope={scope}"),
    ]
    return settings.load(overrides=overrides).job.security


def test_a_token_serves_until_four_fifths_of_its_life_are_over(endpoint: TokenEndpoint) -> None:
    times_s = [0.0]
    provider = TokenProvider(login(endpoint.url, "groups"), lambda: times_s[0])
    endpoint.answer = {"access_token": "first", "expires_in": 100}

    assert provider.token() == "first"
    endpoint.answer = {"access_token": "second", "expires_in": 100}
    times_s[0] = 79.9
    assert provider.token() == "first"
    times_s[0] = 80.0
    assert provider.token() == "second"
    assert endpoint.forms == [{"grant_type": "client_credentials", "scope": "groups"}] * 2


@pytest.mark.parametrize(
    ("answer", "renewed_at_s"),
    [({"expires_in": "100"}, 80.0), ({}, 48.0), ({"expires_in": None}, 48.0)],
)
def test_a_life_that_is_a_text_or_not_told(
    endpoint: TokenEndpoint, answer: dict[str, object], renewed_at_s: float
) -> None:
    times_s = [0.0]
    provider = TokenProvider(login(endpoint.url), lambda: times_s[0])
    endpoint.answer = {"access_token": "first", **answer}
    provider.token()
    endpoint.answer = {"access_token": "second"}

    times_s[0] = renewed_at_s - 0.1
    assert provider.token() == "first"
    times_s[0] = renewed_at_s
    assert provider.token() == "second"


def test_a_wrong_secret_is_refused_and_not_shown(endpoint: TokenEndpoint) -> None:
    wrong = replace(login(endpoint.url), sasl_password=Secret("other-hush"))

    with pytest.raises(SaslAuthenticationFailedError, match="HTTP 401") as caught:
        TokenProvider(wrong).token()

    assert endpoint.url in str(caught.value)
    assert "hush" not in str(caught.value)


def test_an_endpoint_that_is_overloaded_is_no_refusal(endpoint: TokenEndpoint) -> None:
    endpoint.status = 503

    with pytest.raises(KafkaConnectionError, match="HTTP 503"):
        TokenProvider(login(endpoint.url)).token()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(endpoint: TokenEndpoint, status: int) -> None:
    with token_endpoint("127.0.0.2") as elsewhere:
        endpoint.status, endpoint.headers = status, {"Location": elsewhere.url}

        with pytest.raises(SaslAuthenticationFailedError) as refused:
            TokenProvider(login(endpoint.url)).token()

    assert str(refused.value) == (
        f"[Error 58] SaslAuthenticationFailedError: {endpoint.url} gives no token: HTTP {status}, a redirect, which is not followed: set "
        "sasl.oauthbearer.token.endpoint.url to its target"
    )
    assert (len(endpoint.forms), elsewhere.forms) == (1, [])


def test_an_answer_is_read_up_to_1_mib(endpoint: TokenEndpoint) -> None:
    endpoint.answer = {"access_token": "x" * 1024 * 1024}

    with pytest.raises(
        SaslAuthenticationFailedError, match="responds with more than 1048576 bytes"
    ):
        TokenProvider(login(endpoint.url)).token()


def test_a_secret_in_clear_text_takes_no_way_over_a_proxy(
    endpoint: TokenEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    with token_endpoint("127.0.0.2") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)

        assert TokenProvider(login(endpoint.url)).token()

    # No scope is set, so none is asked for.
    assert (endpoint.forms, proxy.forms) == ([{"grant_type": "client_credentials"}], [])


def test_an_endpoint_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with pytest.raises(KafkaConnectionError, match="gives no token"):
        TokenProvider(login(f"http://127.0.0.1:{port}/token")).token()


def test_an_answer_without_a_token(endpoint: TokenEndpoint) -> None:
    endpoint.answer = {"token_type": "bearer"}

    with pytest.raises(SaslAuthenticationFailedError, match="without an access_token"):
        TokenProvider(login(endpoint.url)).token()


def test_every_client_of_a_connection_has_the_provider() -> None:
    job = replace(settings.load().job, security=login("http://127.0.0.1:1/token"))

    connection = Connection.of(job)

    assert isinstance(connection.client_options()["sasl_oauth_token_provider"], TokenProvider)
    refused = connection.failure(SaslAuthenticationFailedError("HTTP 401"))
    assert "authentication of user job failed" in str(refused)


def test_a_login_to_msk_needs_a_package_that_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("group_coordinator.clients.cluster.connection.find_spec", lambda _: None)
    by_iam = ["security.protocol=SASL_SSL", "sasl.mechanism=AWS_MSK_IAM"]

    with pytest.raises(LoginRefusedError, match=r"pip install 'spark-group-coordinator\[msk\]'"):
        Connection.of(settings.load(overrides=by_iam).job)
