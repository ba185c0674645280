"""What a coordinator does in a story, line by line, and where two transcripts differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from tests.conformance.kafka.coordinators import Coordinator
from tests.conformance.language.embedded import assigned_in, with_metadata
from tests.conformance.language.lines import FORGOTTEN, Json, Line, Story
from tests.conformance.language.outcome import comparable, complaints, differences, reduced

_GENERATION = re.compile(r'"#(\w+)"')
_ASSIGNED = re.compile(r'"@(\w+)"')
_TEACHING = frozenset(("JoinGroup", "SyncGroup", "ConsumerGroupHeartbeat"))
_OUT = frozenset((25, 69, 82, 110))
"""The errors that tell a member of a consumer group that it is none."""


@dataclass
class Transcript:
    """What each line of a story brought about."""

    outputs: list[list[Json]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What the script calls the members, by the ids that they were given."""
    ids: dict[str, str] = field(default_factory=dict)
    """The id that each of them was last given."""
    generations: dict[str, int] = field(default_factory=dict)
    """The generation that each of them last joined, or the epoch that it was last told."""
    assigned: dict[str, list[Json]] = field(default_factory=dict)
    """The partitions that each of them was last given."""
    said: list[str] = field(default_factory=list)
    """The lines as they were said, all placeholders filled in."""
    remembered: list[str] = field(default_factory=list)
    """The correlation ids of answers to requests that Kafka forgets."""
    has_given_ids: bool = False
    """Whether both sides make up the same ids."""

    def comparable(self) -> list[list[Json]]:
        if self.has_given_ids:
            return [reduced(outputs) for outputs in self.outputs]
        return [comparable(outputs, self.names) for outputs in self.outputs]

    def answered(self) -> set[str]:
        return {_answered(output) for outputs in self.outputs for output in outputs}

    def until(self, end: int) -> Transcript:
        """Leave out the lines from there on."""
        return replace(self, outputs=self.outputs[:end])

    def without(self, correlations: AbstractSet[str]) -> Transcript:
        """Leave out the answers to these requests."""
        kept = [
            [o for o in outputs if _answered(o) not in correlations] for outputs in self.outputs
        ]
        return replace(self, outputs=kept)

    def filled_in(self, line: Line) -> str:
        """Put what was learned so far in the place of the line's placeholders."""
        text = json.dumps(self._chosen(line))
        for name, member_id in self.ids.items():
            text = text.replace(json.dumps(f"${name}"), json.dumps(member_id))
        text = _GENERATION.sub(lambda found: str(self.generations.get(found[1], 0)), text)
        text = _ASSIGNED.sub(lambda found: json.dumps(self.assigned.get(found[1], [])), text)
        return json.dumps(with_metadata(json.loads(text))) if '"subscribes"' in text else text

    def _chosen(self, line: Line) -> Json:
        if line.rejoin is None:
            return line.text
        known = self.ids if line.text["event"]["api"] == "JoinGroup" else self.generations
        if known.get(line.text["event"]["clientId"]):
            return line.text
        return line.text | {"event": line.text["event"] | {"body": line.rejoin}}

    def learn(self, request: Line, answer: Json) -> None:
        """Remember what a member was told by the answer to its request."""
        name = request.text["event"]["clientId"]
        if request.asks_for_id and answer.get("memberId"):
            self.names[answer["memberId"]] = name
            self.ids[name] = answer["memberId"]
        if answer.get("errorCode") == 0:
            self._learn_place(name, request.text["event"]["api"], answer)
        elif request.rejoin is not None and answer.get("errorCode") in _OUT:
            self.generations[name], self.assigned[name] = 0, []
            self.ids.pop(name, None)

    def _learn_place(self, name: str, api: str, answer: Json) -> None:
        if api == "JoinGroup":
            self.generations[name] = answer["generationId"]
        elif api == "SyncGroup":
            self.assigned[name] = _in_order(assigned_in(answer["assignment"]))
        elif api == "ConsumerGroupHeartbeat":
            self.generations[name] = max(answer["memberEpoch"], 0)
            if answer["memberEpoch"] < 0:
                self.assigned[name] = []
            elif answer["assignment"] is not None:
                self.assigned[name] = _in_order(answer["assignment"]["topicPartitions"])


def play(story: Story, coordinator: Coordinator) -> Transcript:
    """Say every line of a story, its placeholders filled in with what this coordinator answers."""
    transcript = Transcript(has_given_ids=story.salt is not None)
    asked = {_correlation(line.text): line for line in story.lines}
    forgotten = forgotten_requests(story)
    coordinator.begin(story.settings, story.salt)
    for line in story.lines:
        transcript.said.append(transcript.filled_in(line))
        outputs = coordinator.say(transcript.said[-1])
        transcript.remembered += [_answered(o) for o in outputs if _answered(o) in forgotten]
        transcript.outputs.append([o for o in outputs if _answered(o) not in forgotten])
        for output in outputs:
            if output.get("api") in _TEACHING:
                transcript.learn(asked[_answered(output)], output["body"])
    return transcript


def _in_order(topics: list[Json]) -> list[Json]:
    """The order of topics is that of a hash map."""
    return sorted(topics, key=lambda topic: str(topic.get("topicId", topic.get("topic"))))


def repeat(story: Story, said: Sequence[str], coordinator: Coordinator) -> Transcript:
    """Say to this coordinator what was said to another."""
    transcript = Transcript(said=list(said), has_given_ids=story.salt is not None)
    coordinator.begin(story.settings, story.salt)
    transcript.outputs = [coordinator.say(line) for line in said]
    return transcript


def forgotten_requests(story: Story) -> set[str]:
    return {_correlation(line.text) for line in story.lines if line.error == FORGOTTEN}


def _correlation(text: Json) -> str:
    return text.get("event", {}).get("correlationId") or ""


def _answered(output: Json) -> str:
    return output.get("correlationId") or ""


def unexpected(story: Story, transcript: Transcript) -> Iterator[str]:
    """Yield in which lines a transcript is not the story that the script means."""
    for number, (line, outputs) in enumerate(zip(story.lines, transcript.outputs, strict=True), 1):
        for complaint in complaints(line, outputs, transcript.names):
            yield f"line {number}: {brief(line)}\n    {complaint}"


def disagreements(story: Story, kafka: Transcript, ours: Transcript) -> Iterator[str]:
    """Yield for every line on which two transcripts differ the line, both outcomes, the fields."""
    transcripts = zip(story.lines, kafka.comparable(), ours.comparable(), strict=True)
    for number, (line, theirs, mine) in enumerate(transcripts, 1):
        fields = differences(theirs, mine)
        if fields:
            shown = [f"line {number}: {brief(line)}"]
            shown += [f"    Kafka: {json.dumps(output)}" for output in theirs]
            shown += [f"    ours:  {json.dumps(output)}" for output in mine]
            shown += [f"    * {difference}" for difference in fields]
            yield "\n".join(shown)


def brief(line: Line) -> str:
    event = line.text.get("event")
    if event is None:
        return json.dumps(line.text)
    head = f"{line.text['at']} {event['api']} v{event['version']} {event['correlationId']}"
    return f"{head} {json.dumps(event['body'])}"


def script(story: Story) -> Sequence[str]:
    """The story as one reads it: its name, its meaning, its lines."""
    chosen = "".join(f" --set {key}={value}" for key, value in story.settings.items())
    lines = [f"{number:3} {brief(line)}" for number, line in enumerate(story.lines, 1)]
    return [f"{story.name}{chosen}", story.about, *lines]
