"""Jars of Spark's connectors, of the Kafka broker and of Kafka's command line tools, fetched once with the Ivy of pyspark; commands of Java and Python.

`python -m group_coordinator.local.jars` fetches those of Spark and of the broker, so that no command waits for the network later,
and with the argument `tools` those of the tools.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from group_coordinator.local.folders import cache_folder, only_one_process
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.spark_lines import UnknownSparkError, line_of
from group_coordinator.tables.roots import is_on_s3


class JavaMissingError(RuntimeError):
    """This machine has no Java."""


def java(command: str = "java") -> str:
    """Find a command of Java as Spark's scripts do: in JAVA_HOME, then in PATH."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home, "bin", command)) if home else shutil.which(command)
    if path is None:
        raise JavaMissingError("Java is missing: install Java 17 or newer, or set JAVA_HOME")
    return path


def kafka_options() -> list[str]:
    """The user's options for Java with Kafka, from the variable of Kafka's own scripts."""
    return shlex.split(os.environ.get("KAFKA_OPTS", ""))


def python_module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module."""
    # Without -P Python would import click, or any other module, from the current folder first: any user with write access
    # there could run code as this user.
    return [sys.executable, "-P", "-m", name, *arguments]


BROKER_COORDINATES = (
    "org.apache.kafka:kafka_2.13:4.4.0",
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.5",
)
# Interfaces of Kafka's command line tools: a broker does not need them, and some repositories lack their 4.4.0.
_NOT_FOR_A_BROKER = ("kafka-tools-api", "kafka-tools")
_WHOLE_SDK = "bundle"
"""SDK of all of Amazon's services, 700 MB."""
_LOG_LINES_SHOWN = 15
_DIGESTS = Path(__file__).with_name("jars.sha256")
"""Digests of all jars of all class paths, in the format of sha256sum."""

_TOOLS = ("kafka-tools", "kafka-clients", "kafka-server-common")
"""Modules of the console consumers in the version of the tools."""
_TOOLS_IVY_MODULE = """\
<ivy-module version="2.0">
  <info organisation="group-coordinator" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
    {}
  </dependencies>
</ivy-module>
"""
_TOOLS_DEPENDENCY = """\
<dependency org="{}" name="{}" rev="{}" conf="default" transitive="false"/>"""
_TOOLS_VERSION = "4.3.1"


class JarsError(RuntimeError):
    """The jars could not be fetched; the message has the last lines of Ivy's output."""


def spark_jars() -> list[Path]:
    """Jars of a session for Kafka and Delta that the installed pyspark lacks. Raises UnknownSparkError."""
    line = line_of(metadata.version("pyspark"))
    shipped = _names_in(_pyspark_jars())
    needed = (line.connector, line.delta)
    return _jars("spark", _ivy_module(needed, excluded=shipped, overridden=[line.token_provider]))


def s3_jars() -> list[Path]:
    """Jars of a session for S3 in addition to `spark_jars`. Raises UnknownSparkError if its Hadoop is too old."""
    version = metadata.version("pyspark")
    needed = line_of(version).s3
    if not needed:
        raise UnknownSparkError(
            f"PySpark {version} has a Hadoop without conditional PUTs, which tables and checkpoints on S3 need: install a "
            "later one (tests/sparks/README.md)"
        )
    shipped = _names_in(_pyspark_jars())
    return _jars("s3", _ivy_module(needed, excluded=[*shipped, _WHOLE_SDK]))


def session_jars(job: JobSettings) -> list[Path]:
    """Jars of a job's session. Raises UnknownSparkError."""
    on_s3 = any(map(is_on_s3, (job.tables_root, job.checkpoint_location)))
    return [*spark_jars(), *(s3_jars() if on_s3 else ())]


def broker_jars() -> list[Path]:
    """Class path of a Kafka broker."""
    return _jars("broker", _ivy_module(BROKER_COORDINATES, excluded=_NOT_FOR_A_BROKER))


def tools_jars(modules: Iterable[str] = _TOOLS, others: Iterable[str] = ()) -> list[Path]:
    """Class path of Kafka's command line tools: modules in the tools' version, the broker's jars, and coordinates of others."""
    kafkas = (f"org.apache.kafka:{module}:{_TOOLS_VERSION}" for module in modules)
    wanted = "".join(_TOOLS_DEPENDENCY.format(*parts) for parts in _parts([*kafkas, *others]))
    return [*_jars("tools", _TOOLS_IVY_MODULE.format(wanted)), *broker_jars()]


def other_jars(name: str, coordinates: Iterable[str]) -> list[Path]:
    """Class path of another program: its coordinates with their dependencies; the name is for the cache."""
    return _jars(name, _ivy_module(coordinates))


def fetch(*class_paths: Callable[[], object]) -> None:
    """Fetch missing jars of several class paths at once, as Ivy mostly waits for the network. Raises JarsError."""
    with ThreadPoolExecutor(len(class_paths)) as pool:
        for fetched in [pool.submit(class_path) for class_path in class_paths]:
            fetched.result()


def _jars(name: str, ivy_module: str) -> list[Path]:
    cache = cache_folder("jars")
    # Another version or another pyspark gives another text, so the contents of a folder never change.
    folder = cache / f"{name}-{sha256(ivy_module.encode()).hexdigest()[:12]}"
    if not folder.is_dir():
        with only_one_process(cache / f"{folder.name}.lock"):
            if not folder.is_dir():
                _fetch(name, ivy_module, folder)
    return sorted(folder.glob("*.jar"))


def _fetch(name: str, ivy_module: str, folder: Path) -> None:
    print(f"Fetching the {name} jars (once, about a minute)", file=sys.stderr)
    with TemporaryDirectory(dir=folder.parent, prefix=f"{name}-") as scratch:
        module_file = Path(scratch, "ivy.xml")
        module_file.write_text(ivy_module, encoding="utf-8")
        fetched = Path(scratch, "jars")
        _run_ivy(
            *("-ivy", str(module_file)),
            *("-cache", str(Path(scratch, "cache"))),
            *("-types", "jar", "bundle"),
            *("-retrieve", f"{fetched}/[artifact]-[revision](-[classifier]).[ext]"),
        )
        # Checked before the folder gets its final name.
        _check_digests(fetched)
        # The rename is atomic: a killed process leaves no incomplete folder.
        fetched.rename(folder)


def _check_digests(folder: Path) -> None:
    # A repository also provides the checksums of its jars, so they are compared with those of the tested jars.
    text = _DIGESTS.read_text(encoding="utf-8")
    tested = {name: digest for digest, name in map(str.split, text.splitlines())}
    for jar in sorted(folder.glob("*.jar")):
        if jar.name not in tested:
            raise JarsError(
                f"{jar.name} is not one of the tested jars: if it is the right jar, add its line of sha256sum to "
                f"{_DIGESTS}"
            )
        digest = sha256(jar.read_bytes()).hexdigest()
        if digest != tested[jar.name]:
            raise JarsError(
                f"{jar.name} is not the tested jar: its SHA-256 is {digest}, not {tested[jar.name]}; check the "
                "repositories and proxies of Ivy"
            )


def _run_ivy(*arguments: str) -> None:
    [ivy] = _pyspark_jars().glob("ivy-*.jar")
    done = subprocess.run(  # noqa: S603 - Java's own programs
        [java(), "-jar", str(ivy), "-warn", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        # Rows of dots are Ivy's progress bar.
        said = [line for line in done.stdout.splitlines() if line.strip(" .\t")]
        raise JarsError("\n".join(["The jars could not be fetched:", *said[-_LOG_LINES_SHOWN:]]))


def _ivy_module(
    coordinates: Iterable[str], excluded: Iterable[str] = (), overridden: Iterable[str] = ()
) -> str:
    """Ivy file; `overridden` versions replace those of other dependencies."""
    dependencies = [
        f'    <dependency org="{organisation}" name="{module}" rev="{version}" conf="default"/>'
        for organisation, module, version in _parts(coordinates)
    ]
    exclusions = [f'    <exclude module="{module}"/>' for module in excluded]
    overrides = [
        f'    <override org="{organisation}" module="{module}" rev="{version}"/>'
        for organisation, module, version in _parts(overridden)
    ]
    return "\n".join(
        [
            '<ivy-module version="2.0">',
            '  <info organisation="group-coordinator" module="jars"/>',
            '  <configurations><conf name="default"/></configurations>',
            "  <dependencies>",
            *dependencies,
            *exclusions,
            *overrides,
            "  </dependencies>",
            "</ivy-module>",
        ]
    )


def _parts(coordinates: Iterable[str]) -> Iterator[list[str]]:
    return (text.split(":") for text in coordinates)


def _pyspark_jars() -> Path:
    # Importing pyspark would cost half a second.
    pyspark = find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        raise JarsError("pyspark is not installed")
    return Path(pyspark.origin).parent / "jars"


def _names_in(folder: Path) -> list[str]:
    """Module names without versions: scala-library of scala-library-2.13.16.jar."""
    return sorted({re.sub(r"-\d.*", "", jar.name) for jar in folder.glob("*.jar")})


CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"


def tool_command(tool: str, *arguments: str) -> list[str]:
    """Return the command of a tool of Kafka by its class: `kafka-consumer-groups` is CONSUMER_GROUPS. Raises as tools_jars."""
    return [
        *(java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=OFF"),
        *("-cp", ":".join(map(str, tools_jars())), tool, *arguments),
    ]


if __name__ == "__main__":
    try:
        fetch(*([tools_jars] if sys.argv[1:] == ["tools"] else [spark_jars, broker_jars]))
    except (JarsError, JavaMissingError, UnknownSparkError) as failure:
        sys.exit(str(failure))
