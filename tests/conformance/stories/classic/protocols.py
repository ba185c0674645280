from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def a_protocol_named_twice_counts_twice(s: Script) -> None:
    """ClassicGroup counts the entries of all lists, and compares with the number of members."""
    twice = [("b", b"1"), ("a", b"2"), ("a", b"3")]
    s.join("m1", version=3, protocol_type="connect", protocols=twice, error=PARKED)
    s.join("m2", version=3, protocol_type="connect", protocols={"a": b""}, error=23)
    s.join("m3", version=3, protocol_type="connect", protocols={"b": b"4"}, error=PARKED)
    s.join("m4", version=3, protocol_type="connect", protocols=[("c", b""), ("c", b"")], error=23)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync("m3", 1, version=4, error=PARKED)
    s.sync("m1", 1, {"m1": b"1", "m3": b"3"}, version=4)


@story()
def a_member_that_names_a_protocol_twice_goes_by_another(s: Script) -> None:
    """No protocol is listed once but b; when the member lists each once, the first of them is elected."""
    twice = [("a", b"1"), ("a", b"2"), ("b", b"3")]
    s.join("m1", version=3, protocol_type="connect", protocols=twice, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, version=4)
    s.join("m1", version=3, protocol_type="connect", protocols={"a": b"1", "b": b"3"})
    s.sync("m1", 2, {"m1": b"all"}, version=4)
