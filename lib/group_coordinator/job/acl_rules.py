"""Where the rules of who may do what come from: the cluster, or a file, and beside either the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from group_coordinator.clients.cluster.cluster_acls import (
    AclsUnreadableError,
    ClusterAcls,
    has_authorizer,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.codecs import acls as codec
from group_coordinator.codecs.acls import super_users_of
from group_coordinator.codecs.fields import FieldError
from group_coordinator.core.acls.rule import Acls
from group_coordinator.settings import JobSettings


@contextmanager
def reader_of_acls(job: JobSettings, connection: Connection) -> Iterator[Callable[[], Acls] | None]:
    """What reads the rules that the settings name; None: there are to be none.

    Raises:
        AclsUnreadableError: `super.users` is wrong.
    """
    if job.acls_source == "none":
        yield None
        return
    of_settings = Acls((), _super_users(job), job.allow_everyone_if_no_acl_found)
    if job.acls_source == "file":
        yield lambda: _together(of_settings, rules_in(Path(job.acls_file)))
        return
    with closing(ClusterAcls(connection)) as cluster:
        yield lambda: _together(of_settings, Acls(cluster.read()))


def way_past_rules(job: JobSettings, connection: Connection) -> str | None:
    """How clients get past the rules of a file, in one sentence; None: they do not.

    Raises:
        ChannelError: the cluster does not answer, or does not let us in.
    """
    if job.acls_source != "file" or has_authorizer(connection):
        return None
    return (
        f"acls.source = file, and the brokers have no authorizer: whoever reaches them may write to {job.events_topic} as any "
        "user, past all rules: set authorizer.class.name at the brokers, or let only the job and the gateway reach them"
    )


def rules_in(file: Path) -> Acls:
    """The rules of a file.

    Raises:
        AclsUnreadableError: the message names the file, and the field that is wrong.
    """
    try:
        return codec.decode(file.read_bytes())
    except (OSError, FieldError) as error:
        raise AclsUnreadableError(f"acls.file = {file}: {error}") from error


def _super_users(job: JobSettings) -> tuple[str, ...]:
    try:
        return super_users_of(job.super_users)
    except FieldError as error:
        raise AclsUnreadableError(str(error)) from error


def _together(of_settings: Acls, read: Acls) -> Acls:
    return Acls(
        read.rules,
        tuple(dict.fromkeys((*of_settings.super_users, *read.super_users))),
        of_settings.allow_everyone_if_no_acl_found or read.allow_everyone_if_no_acl_found,
    )
