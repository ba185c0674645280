"""Becomes spark-submit: `python -m tests.cluster.submit SCRIPT PACKAGES MASTER [--conf KEY=VALUE...] -- ARGUMENTS`.

What the checkout had in the environment is left out: only the wheel in PACKAGES is there. So is the login to a store, which
Spark's settings have.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyspark

from group_coordinator.local.jars import spark_jars
from tests.cluster.standalone import configuration
from tests.support.short_lived_java import OPTIONS

_OF_THE_CHECKOUT = {"SPARK_CONF_DIR", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_HOME"}
_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"


def main() -> None:
    """Does not return."""
    script, packages, master, *rest = sys.argv[1:]
    confs, arguments = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    jars = list(map(str, spark_jars()))
    while "--jars" in confs:  # of a store; spark-submit takes one such option
        at = confs.index("--jars")
        jars.append(confs[at + 1])
        del confs[at : at + 2]
    os.environ["PYTHONPATH"] = packages
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    for name in list(os.environ):
        if name in _OF_THE_CHECKOUT or name.startswith("AWS_"):
            del os.environ[name]
    settings = {
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": packages,
        "spark.executor.memory": "800m",
        "spark.executor.extraJavaOptions": OPTIONS,
        "spark.driver.memory": "1g",
    }
    given = [option for key, value in settings.items() for option in ("--conf", f"{key}={value}")]
    command = [str(_SUBMIT), "--master", master, "--jars", ",".join(jars), *given, *confs]
    command += ["--properties-file", str(configuration(Path(packages)))]
    command += [str(Path(packages).parent / "jobs" / script), *arguments]
    os.execv(command[0], command)  # noqa: S606 - a fixed program


if __name__ == "__main__":
    main()
