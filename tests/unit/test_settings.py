from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from group_coordinator import settings
from group_coordinator.security import Secret, Security
from group_coordinator.settings import JobSettings, SettingsError

NO_ADDRESS = "is not HOST:PORT, [IPv6]:PORT or PROTOCOL://HOST:PORT"


def own_file(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_defaults_are_kafkas() -> None:
    loaded = settings.load()
    coordinator = loaded.coordinator

    assert coordinator.offsets_retention_minutes == 10_080
    assert coordinator.retention_ms == 604_800_000
    assert coordinator.group_initial_rebalance_delay_ms == 3_000
    assert coordinator.group_max_size == 2_147_483_647
    # Limits of this program.
    assert coordinator.group_max_offsets == 100_000
    assert coordinator.event_max_bytes == 1_048_576
    assert loaded.job.response_max_bytes == 16_777_216


def test_the_defaults_of_the_job() -> None:
    assert settings.load().job == JobSettings(
        bootstrap_servers="localhost:9092",
        cluster_id="default",
        events_topic="group-events",
        events_topic_partitions=4,
        events_topic_retention_ms=604_800_000,
        responses_topic="group-responses",
        responses_topic_partitions=8,
        responses_topic_retention_ms=86_400_000,
        topics_replication_factor=1,
        request_timeout_ms=30_000,
        response_max_bytes=16_777_216,
        tables_root="./group-coordinator-tables",
        checkpoint_location="group-coordinator-checkpoint",
        trigger_interval_ms=100,
        idle_interval_ms=20_000,
        timer_slack_ms=1_000,
        max_offsets_per_trigger=200_000,
        shuffle_partitions=0,
        state_store_provider="rocksdb",
        exchange="auto",
        compaction_interval_ms=10_000,
        snapshot_interval_ms=86_400_000,
        maintenance_interval_ms=10_800_000,
        maintenance_new_files=500,
        history_full_ms=0,
        history_hourly_ms=0,
        topic_metadata_interval_ms=1_000,
        transactions_markers_interval_ms=100,
        acls_source="none",
        acls_file="",
        acls_interval_ms=10_000,
        super_users="",
        allow_everyone_if_no_acl_found=False,
        metrics_listen="",
        metrics_interval_ms=30_000,
        metrics_lag_granularity="partition",
        metrics_password_file="",
        metrics_ssl_keystore_location="",
        positions_retention_ms=2_592_000_000,
        positions_full_ms=0,
        mirror_interval_ms=5_000,
        mirror_poll_interval_ms=30_000,
        mirror_max_offsets_per_trigger=2_000_000,
        mirror_positions_interval_ms=30_000,
        gateway_listen="127.0.0.1:19092",
        gateway_advertised_host="",
        gateway_health_listen="127.0.0.1:19091",
        gateway_answers="replica",
        gateway_answer_timeout_ms=25_000,
        gateway_connections_max_idle_ms=600_000,
        gateway_max_connections=10_000,
        gateway_max_connections_per_ip=2_147_483_647,
        gateway_login_timeout_ms=30_000,
        gateway_connection_failed_authentication_delay_ms=100,
        gateway_ssl_keystore_location="",
        gateway_ssl_truststore_location="",
        gateway_sasl_oauthbearer_sub_claim_name="sub",
        gateway_clients_share_one_user=False,
        gateway_allow_plaintext_passwords=False,
        gateway_metadata_interval_ms=3_000,
        gateway_metadata_lookup_interval_ms=1_000,
        gateway_client_open_max_bytes=8_388_608,
        security=Security(
            security_protocol="PLAINTEXT",
            sasl_mechanism="SCRAM-SHA-512",
            sasl_username="",
            sasl_password=Secret(""),
            sasl_oauthbearer_token_endpoint_url="",
            sasl_oauthbearer_scope="",
            ssl_truststore_location="",
            ssl_keystore_location="",
            ssl_key_password=Secret(""),
        ),
    )


def test_a_file_of_ones_own_needs_only_what_differs(tmp_path: Path) -> None:
    mine = own_file(tmp_path, '"events.topic" = "mine"\nevents.topic.partitions = 2\n')

    job = settings.load(mine).job

    assert (job.events_topic, job.events_topic_partitions) == ("mine", 2)
    assert job.responses_topic == "group-responses"


def test_an_override_wins_over_the_file(tmp_path: Path) -> None:
    mine = own_file(tmp_path, "offsets.retention.minutes = 2\ntimer.slack.ms = 5\n")

    loaded = settings.load(mine, ["offsets.retention.minutes=3", "cluster.id = 7"])

    assert loaded.coordinator.offsets_retention_minutes == 3
    assert loaded.job.timer_slack_ms == 5
    assert loaded.job.cluster_id == "7"


def test_a_protocol_may_be_written_in_any_case() -> None:
    login = ["sasl.username=billing", "sasl.password=hush"]

    security = settings.load(overrides=["security.protocol=sasl_plaintext", *login]).job.security

    assert security.security_protocol == "SASL_PLAINTEXT"


def test_brokers_in_mixed_forms_become_what_any_client_reads(tmp_path: Path) -> None:
    servers = "SASL_SSL://kafka-1:9093, PLAINTEXT://[::1]:9094,kafka-2"
    mine = own_file(tmp_path, f'bootstrap.servers = "{servers}"\n')

    assert settings.load(mine).job.bootstrap_servers == "kafka-1:9093,[::1]:9094,kafka-2:9092"


@pytest.mark.parametrize(
    ("override", "why"),
    [
        ("timer.slack.ms=soon", "Expected `int`, got `str`"),
        ("timer.slack.ms=-1", "Expected `int` >= 0"),
        ("events.topic=", "Expected `str` of length >= 1"),
        ("events.topic.partitions=2147483648", "Expected `int` <= 2147483647"),
        ("topics.replication.factor=32768", "Expected `int` <= 32767"),
        ("bootstrap.servers=a:1,SSL://b:x", f"'SSL://b:x' {NO_ADDRESS}"),
        ("bootstrap.servers= ,", f"',' {NO_ADDRESS}"),
        ("state.store.provider=disk", "Expected one of rocksdb, hdfs"),
        ("offsets.retention.check.interval.ms=0", "must be at least 1"),
        (
            "group.min.session.timeout.ms=1800001",
            "must not exceed group.max.session.timeout.ms = 1800000",
        ),
    ],
)
def test_a_bad_override_is_named(override: str, why: str) -> None:
    key, _, value = override.partition("=")
    with pytest.raises(SettingsError, match=f"^{re.escape(f'{key} = {value.strip()}: {why}')}$"):
        settings.load(overrides=[override])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "offset.retention.minutes=1",
            "offset.retention.minutes is not a setting; did you mean offsets.retention.minutes?",
        ),
        ("nope=1", "nope is not a setting; conf/coordinator.toml has them all"),
        ("=5", "'=5' is not KEY=VALUE"),
        ("offsets.retention.minutes", "'offsets.retention.minutes' is not KEY=VALUE"),
    ],
)
def test_what_is_no_override_is_named(override: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        settings.load(overrides=[override])


TRUTH = "allow.everyone.if.no.acl.found"


@pytest.mark.parametrize(("written", "read"), [("TRUE", True), ("False", False)])
def test_true_and_false_in_any_case(tmp_path: Path, written: str, read: bool) -> None:  # noqa: FBT001
    mine = own_file(tmp_path, f"{TRUTH} = ' {written} '\n")

    assert settings.load(mine).job.allow_everyone_if_no_acl_found is read
    assert (
        settings.load(overrides=[f"{TRUTH}={written}"]).job.allow_everyone_if_no_acl_found is read
    )


@pytest.mark.parametrize("written", ["1", "0", "yes", "on", "", "true;"])
def test_nothing_else_is_true_or_false(tmp_path: Path, written: str) -> None:
    message = f"{TRUTH} = {written}: Expected true or false"

    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        settings.load(overrides=[f"{TRUTH}={written}"])
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        settings.load(
            own_file(tmp_path, f"{TRUTH} = {written if written.isdigit() else repr(written)}\n")
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timer.slack.ms = true\n", r"^timer\.slack\.ms = True: Expected `int`"),
        (f"x = {'[' * 2_000}{']' * 2_000}", r"mine\.toml: maximum recursion depth exceeded"),
        (f"{'x.' * 20_000}y = 1", r"mine\.toml: maximum recursion depth exceeded"),
        (f"timer.slack.ms = {'9' * 5_000}", r"mine\.toml: Exceeds the limit \(4300 digits\)"),
        ('cluster.id = "a"\n"cluster.id" = "b"\n', r"mine\.toml: a key is there with quotes"),
        (f"#{'x' * 1024 * 1024}", r"mine\.toml: has more than 1048576 bytes: give a file of"),
        ("timer.slack.ms 5\n", r"mine\.toml: .*line 1"),
    ],
    ids=["a bad value", "too deep", "a long key", "digits", "twice", "too large", "no TOML"],
)
def test_a_file_with_a_fault_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings.load(own_file(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.toml"):
        settings.load(tmp_path / "absent.toml")


def test_a_pipe_is_no_file_of_settings() -> None:
    """A second reader of it would find nothing, and use the defaults."""
    out, into = os.pipe()
    os.write(into, b'cluster.id = "eu-1"\n')
    os.close(into)

    with pytest.raises(SettingsError, match=rf"^/dev/fd/{out}: is no regular file: write the"):
        settings.load(Path(f"/dev/fd/{out}"))
    os.close(out)


def test_which_settings_are_given(tmp_path: Path) -> None:
    file = own_file(tmp_path, 'cluster.id = "eu-1"\n')
    given = settings.keys_given(file, ["offsets.retention.minutes=10080"])

    assert given == {"cluster.id", "offsets.retention.minutes"}
    assert settings.keys_given() == frozenset()


def test_a_file_with_a_key_that_begins_another_one(tmp_path: Path) -> None:
    file = tmp_path / "coordinator.toml"
    file.write_text("gateway.max.connections = 100\ngateway.max.connections.per.ip = 20\n")

    with pytest.raises(SettingsError) as refused:
        settings.load(file, [], {})

    assert str(refused.value).endswith(
        ': give each key once, and quote a key that begins another one, such as "events.topic"'
    )
    file.write_text('"gateway.max.connections" = 100\ngateway.max.connections.per.ip = 20\n')
    assert settings.load(file, [], {}).job.gateway_max_connections_per_ip == 20


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "coordinator.toml"
    file.write_bytes(b'\xef\xbb\xbfcluster.id = "eu-1"\n')  # as some editors save UTF-8
    assert settings.load(file, [], {}).job.cluster_id == "eu-1"

    file.write_bytes(b'cluster.id = "caf\xe9"\n')
    with pytest.raises(SettingsError, match=r"coordinator\.toml: .*: save the file as UTF-8$"):
        settings.load(file, [], {})
