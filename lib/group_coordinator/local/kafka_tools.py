"""Kafka's own command line tools, run by their jars, without code of this project.

`python -m group_coordinator.local.kafka_tools` fetches the jars.
"""

from __future__ import annotations

import sys

from group_coordinator.local.jars import JarsError, JavaMissingError, java, tools_jars

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"


def tool_command(tool: str, *arguments: str) -> list[str]:
    """Return the command of a tool by its class: `kafka-consumer-groups` is CONSUMER_GROUPS. Raises as tools_jars."""
    return [
        *(java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=OFF"),
        *("-cp", ":".join(map(str, tools_jars())), tool, *arguments),
    ]


if __name__ == "__main__":
    try:
        tools_jars()
    except (JarsError, JavaMissingError) as failure:
        sys.exit(str(failure))
