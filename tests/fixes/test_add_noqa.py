"""Where a suppression comment is written: at the end of a line, and never into a string."""

from __future__ import annotations

import ast

import pytest

from devlint.fixes.add_noqa import noqa_edits
from devlint.source.decoding import decode


def annotated(text: str, *findings: tuple[int, str]) -> str:
    source = decode(text.encode())
    data = source.data
    for edit in reversed(noqa_edits(source, findings)):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    assert ast.dump(ast.parse(data)) == ast.dump(ast.parse(text))
    return data.decode()


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("f(x)\n", 1, "f(x)  # noqa: DEV101\n"),
        ("f(x)", 1, "f(x)  # noqa: DEV101"),
        ("f(x) \t\r\ny = 1\r\n", 1, "f(x)  # noqa: DEV101\r\ny = 1\r\n"),
        ("x = 1\rf(x)\r", 2, "x = 1\rf(x)  # noqa: DEV101\r"),
        ("f(x)  # why\n", 1, "f(x)  # why  # noqa: DEV101\n"),
        ("f(x)  # noqa: E501\n", 1, "f(x)  # noqa: E501, DEV101\n"),
        ("f(x)  # noqa:E501,W291 long\n", 1, "f(x)  # noqa:E501,W291, DEV101 long\n"),
        ("f(x)  # noqa\n", 1, "f(x)  # noqa  # noqa: DEV101\n"),
        ("f(x)  # noqa: DEV101\n", 1, "f(x)  # noqa: DEV101\n"),
        ("f(x)  # devlint: ignore[DEV201] as it is\n", 1,
         "f(x)  # devlint: ignore[DEV201] as it is  # noqa: DEV101\n"),
        ("s = '''\n# noqa: DEV101\n''', f(x)\n", 1, "s = '''\n# noqa: DEV101\n''', f(x)  # noqa: DEV101\n"),
        ("y = x + \\\n    f(x) + \\\n    1\nz = 1\n", 2, "y = x + \\\n    f(x) + \\\n    1  # noqa: DEV101\nz = 1\n"),
        ("y = f(\n    x,\n    '''a\nb''',\n)\n", 2, "y = f(\n    x,  # noqa: DEV101\n    '''a\nb''',\n)\n"),
        ("y = f(\n    x,\n    '''a\nb''',\n)\n", 3, "y = f(\n    x,\n    '''a\nb''',  # noqa: DEV101\n)\n"),
        ("y = f'''{\n x}\n{f(x)}'''\n", 3, "y = f'''{\n x}\n{f(x)}'''  # noqa: DEV101\n"),
        ("if f(\n    x\n):\n    pass\n", 1, "if f(  # noqa: DEV101\n    x\n):\n    pass\n"),
        ("@f(x)\ndef g(): pass\n", 1, "@f(x)  # noqa: DEV101\ndef g(): pass\n"),
        ("class A:\n\tdef f(s):\n\t\ts = 'é'; f(s)\n", 3, "class A:\n\tdef f(s):\n\t\ts = 'é'; f(s)  # noqa: DEV101\n"),
        ("\x0cf(x)\x0c\n", 1, "\x0cf(x)  # noqa: DEV101\n"),
    ],
)  # fmt: skip
def test_where_the_comment_stands(text: str, line: int, expected: str) -> None:
    assert annotated(text, (line, "DEV101")) == expected


def test_codes_of_one_line_share_a_comment() -> None:
    assert annotated("f(x)\n", (1, "DEV301"), (1, "DEV101"), (1, "DEV301")) == "f(x)  # noqa: DEV101, DEV301\n"
