"""`group-coordinator mcp`: questions of agents about the tables, by the Model Context Protocol; without Spark and without a JVM."""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator import settings
from group_coordinator.agents import server
from group_coordinator.cli.client_properties.file import warn_if_others_read
from group_coordinator.cli.shared_options import address_of, reject_given, settings_options
from group_coordinator.codecs.host_and_port import written
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.security import Secret


@click.command()
@click.option(
    "--http",
    "address",
    type=address_of,
    metavar="HOST:PORT",
    help="Serve HTTP at this address, such as 127.0.0.1:8091, and not standard input and output.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --http: a file with one line, the token that clients must send.",
)
@click.option(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="With --http: another name of this server in requests, such as that of a proxy. Repeatable.",
)
@click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]")
@settings_options
def command(
    address: tuple[str, int] | None,
    token_file: Path | None,
    hosts: tuple[str, ...],
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Let agents query groups by the Model Context Protocol, read-only.

    Tools: groups, lag, timeline, lost, expiring, at_risk, explain; each with limits on rows, and as of any time.

    A client starts the command and uses its standard input and output. With --http it serves many clients, which
    must send the token. Agents see group ids, principals and client hosts, which may be personal data.

    \b
    Examples:
      group-coordinator mcp --tables build/tables
      group-coordinator mcp --http 127.0.0.1:8091 --token-file token
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if address is None:
        reject_given("token_file", "hosts", why="has no effect without --http")
    elif token_file is None:
        raise click.UsageError("--http needs --token-file FILE: all who reach the port could read")
    set_up_logs()
    loaded = settings.load(config, overrides)
    served = server.server_of(
        server.AgentTables(tables or loaded.job.tables_root, loaded.coordinator)
    )
    if address is None or token_file is None:
        server.serve_stdio(served)
        return
    token = _token_of(token_file)
    try:
        listener = server.listening(*address)
    except OSError as error:
        raise click.ClickException(f"--http {written(*address)}: {error.strerror}") from error
    with listener:
        host, port = listener.getsockname()[:2]
        click.echo(
            f"http://{written(host, port)}{server.PATH} serves agents. Ctrl-C ends it.", err=True
        )
        server.serve_http(served, listener, token, hosts)


def _token_of(file: Path) -> Secret:
    warn_if_others_read(file, ["the token"])
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(
            f"--token-file {file} cannot be read as ASCII: write the token as one line of ASCII letters"
        ) from error
    if len(lines) != 1 or not lines[0] or lines[0] != "".join(lines[0].split()):
        raise click.UsageError(f"--token-file {file} must have one line, the token, without spaces")
    return Secret(lines[0])
