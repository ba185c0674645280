"""Each expectation is what JaasContext of kafka-clients 4.4.0 makes of the text."""

from __future__ import annotations

import pytest

from group_coordinator.codecs.jaas import JaasError, LoginModule, read, written

BILLING = {"username": "billing", "password": "s3cret"}


@pytest.mark.parametrize(
    "text",
    [
        'M required username="billing" password="s3cret";',
        "M required username='billing' password='s3cret';",
        "M required username=billing password=s3cret;",
        "\"M\" 'required' \"username\"=\"billing\" 'password'='s3cret';",
        'M\n\n  required\r\n\tusername = "billing"\n password = "s3cret"\n ;',
        'M SUFFICIENT username="billing" password="s3cret";',
        'M required username="other" username="billing" password="s3cret";',
        'M required // a comment; "here"\n username="billing" /* and\nthere */ password=s3cret; // end',
        'M required username="billing"password="s3cret" / a comment too\n; /* end',
    ],
)
def test_ways_to_write_a_login(text: str) -> None:
    assert read(text) == LoginModule("M", BILLING)


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        (r'"a\"b\\c"', r'a"b\c'),
        (r"'it\'s \"'", "it's \""),
        ("'a\"b'", 'a"b'),
        (r'"\101\7\18\400\377\0000"', "A\a\x018 0ÿ\x000"),
        (r'"\a\b\f\n\r\t\v\h\;"', "\a\b\f\n\r\t\vh;"),
        ('"\\\n"', "\n"),
        ('""', ""),
        ('"http://x/*y*/;=#"', "http://x/*y*/;=#"),
        ("a$b_c-d.1", "a$b_c-d.1"),
        ("pä日😀", "pä日😀"),
        ("/* none */ p", "p"),
    ],
)
def test_a_value(value: str, read_as: str) -> None:
    assert read(f"M required password={value};").options == {"password": read_as}


def test_a_name_inside_another_is_another_option() -> None:
    module = read('M required extra-password="x" username="u" my_username=v;')

    assert module.options == {"extra-password": "x", "username": "u", "my_username": "v"}


def test_a_module_without_options() -> None:
    assert read("software.amazon.msk.auth.iam.IAMLoginModule required;") == LoginModule(
        "software.amazon.msk.auth.iam.IAMLoginModule", {}
    )


@pytest.mark.parametrize(
    "value", ["12345", "1b", "-5", ".5x", "*", "", ";", '"open', "/b", "#b", "=b"]
)
def test_a_value_that_needs_quotes(value: str) -> None:
    with pytest.raises(JaasError) as refused:
        read(f"M required password={value};")

    assert str(refused.value) == (
        'password has no value, or a value that needs quotes: write password="..."'
    )


@pytest.mark.parametrize("value", ["hush@b", "hush b", "hush=b", "a,hush", '"line\nhush"', '"a"b'])
def test_the_rest_of_a_value_is_no_option_and_does_not_show(value: str) -> None:
    with pytest.raises(JaasError) as refused:
        read(f"M required username=u password={value};")

    assert str(refused.value) == 'the text after password is not KEY="VALUE": correct it'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'the value must begin with CLASS required and continue with KEY="VALUE"'),
        ("M;", 'the value must begin with CLASS required and continue with KEY="VALUE"'),
        (
            'M wrong username="u";',
            'the value must begin with CLASS required and continue with KEY="VALUE"',
        ),
        ("M required username;", 'the text after required is not KEY="VALUE": correct it'),
        (
            'M required username="u"',
            "the value does not end with a semicolon: add it, or close a quote",
        ),
        (
            'M required username="u"; N required;',
            "the value has text after the first semicolon: give one login module only",
        ),
    ],
)
def test_a_text_that_is_no_login(text: str, why: str) -> None:
    with pytest.raises(JaasError) as refused:
        read(text)

    assert str(refused.value) == why


def test_what_is_written_is_read_again() -> None:
    module = LoginModule("M", {"username": "a\"b\\c'd;", "password": "\n\r\t 7/*x*/"})

    assert written(module) == ('M required username="a\\"b\\\\c\'d;" password="\\n\\r\t 7/*x*/";')
    assert read(written(module)) == module
