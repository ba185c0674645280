from __future__ import annotations

from group_coordinator.driver.rebuild import summary
from group_coordinator.streaming.checkpoint.layout import Origin
from group_coordinator.streaming.rebuild.rebuild import Rebuilt


def test_it_says_where_the_job_goes_on_and_what_is_gone() -> None:
    rebuilt = Rebuilt(Origin(812, {0: 17, 1: 40, 2: 5}, groups=3), handled={0: 16, 1: 19})

    assert summary(rebuilt, "events", {0: range(20), 1: range(40, 50), 2: range(5, 5)}) == [
        "groups: 3",
        "the next batch: 812",
        "events 0 continues at 17: 3 to read",
        "events 1 continues at 40: 10 to read; 20 to 39 are lost",
        "events 2 continues at 5: 0 to read; 0 to 4 are lost",
        "the log does not have the topic metadata of groups",
        "`run` sends it to consumer groups again; send other TopicMetadata events again",
    ]
