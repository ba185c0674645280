from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.cli.client_properties.file import PropertiesError, read_properties


def read(folder: Path, content: bytes) -> dict[str, str]:
    file = folder / "client.properties"
    file.write_bytes(content)
    return read_properties(file)


@pytest.mark.parametrize(
    "text",
    [
        "client.id=shop",
        "client.id: shop",
        "client.id shop",
        "client.id = \\\n    shop\n",
        "client.id=sh\\\r\n\top",
        "! a comment\n  # another one = 1\n\n  client.id=shop",
        "client\\u002eid=sho\\u0070",
        "client.id=market\nclient.id:shop",
    ],
)
def test_java_s_ways_to_write_a_property(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text.encode()) == {"client.id": "shop"}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_a_file_in_latin_1_or_utf_8(tmp_path: Path, encoding: str) -> None:
    text = "# für Jürgen\nclient.id=Kürbis\nsasl.mechanism=PLAIN\n"

    assert read(tmp_path, text.encode(encoding)) == {
        "client.id": "Kürbis",
        "sasl.mechanism": "PLAIN",
    }


def test_escapes_stand_for_their_characters(tmp_path: Path) -> None:
    text = r'sasl.jaas.config=M required username="J\u00fcrgen" password="a\:b\=c\td\\"e";'

    assert read(tmp_path, text.encode()) == {
        "sasl.jaas.config": 'M required username="Jürgen" password="a:b=c\td\\"e";'
    }


def test_a_name_without_a_value_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path, b"client.id=\n") == {"client.id": ""}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"client.id=\u00e", r"Invalid \u escape sequence"),
        ("nonsense\n", "'nonsense' is not KEY=VALUE"),
    ],
)
def test_a_line_that_is_no_property(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(PropertiesError) as refused:
        read(tmp_path, text.encode())

    assert str(refused.value).startswith(f"{tmp_path}/client.properties: {why}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PropertiesError) as refused:
        read_properties(tmp_path / "missing")

    assert str(refused.value) == f"{tmp_path}/missing: No such file or directory"
