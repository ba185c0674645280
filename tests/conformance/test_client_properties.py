from __future__ import annotations

import subprocess
from typing import Final

import pytest

from group_coordinator.cli.client_properties.options import OF_EVERY_CLIENT, is_known
from group_coordinator.local.jars import broker_jars

ASKED: Final = """
import java.util.*;
for (var names : List.of(
    org.apache.kafka.clients.admin.AdminClientConfig.configNames(),
    org.apache.kafka.clients.consumer.ConsumerConfig.configNames(),
    org.apache.kafka.clients.producer.ProducerConfig.configNames()))
  System.out.println(String.join(" ", names));
/exit
"""


@pytest.mark.oracle
def test_the_names_are_those_of_kafkas_clients() -> None:
    jars = ":".join(map(str, broker_jars()))
    said = subprocess.run(  # noqa: S603 - a fixed program
        ["jshell", "--class-path", jars, "-s", "-"],  # noqa: S607 - a fixed program
        input=ASKED,
        capture_output=True,
        check=True,
        text=True,
        timeout=120,
    )

    of_admin, of_consumer, of_producer = (set(line.split()) for line in said.stdout.splitlines())
    of_every_client = of_admin & of_consumer & of_producer
    assert of_every_client - OF_EVERY_CLIENT == set()
    assert {name for name in of_admin | of_consumer | of_producer if not is_known(name)} == set()
