from __future__ import annotations

from tests.support.rights_page import BEGIN, COMMANDS_BEGIN, COMMANDS_END, END, PAGE, with_rights


def test_the_rights_are_those_of_the_definition() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page.count(BEGIN) == page.count(END) == 1
    assert page.count(COMMANDS_BEGIN) == page.count(COMMANDS_END) == 1
    assert page == with_rights(page), "run python -m tests.support.rights_page --write"
