"""Tables in a terminal: within 100 columns, numbers to the right and unbroken, every cell as it is."""

from __future__ import annotations

import pytest

from personare.cli import show

HEAD = ["method", "attacker", "L", "EER [95 %]", "chance", "linkability [95 %]", "N", "chance", "verdict"]
ROWS = [
    ["original", "any attacker", "1", "0.0 % [0.0, 16.1]", "46.1 %", "100.0 % [83.9, 100.0]", "20", "5.0 %", "-"],
    ["[mine]", "lazy-informed *", "3", "20.9 % [-]", "46.3 %", "65.0 % [45.0, 83.3]", "20", "5.0 %", "exposed"],
]
NARROW = """\
Two attacks
┏━━━┳━━━━━━━━━━━━━━━━━━━┓
┃ L ┃        EER [95 %] ┃
┡━━━╇━━━━━━━━━━━━━━━━━━━┩
│ 1 │ 0.0 % [0.0, 16.1] │
│ 3 │        20.9 % [-] │
└───┴───────────────────┘
"""
WIDE = """\
Two attacks
method   attacker        L        EER [95 %] chance    linkability [95 %]  N chance verdict
───────────────────────────────────────────────────────────────────────────────────────────
original any attacker    1 0.0 % [0.0, 16.1] 46.1 % 100.0 % [83.9, 100.0] 20  5.0 % -
[mine]   lazy-informed * 3        20.9 % [-] 46.3 %   65.0 % [45.0, 83.3] 20  5.0 % exposed
"""


def printed(head: list[str], rows: list[list[str]], capsys: pytest.CaptureFixture[str]) -> str:
    show.table("Two attacks", head, rows)
    return "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())


def test_lines_between_the_columns_where_there_is_room(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(HEAD[2:4], [row[2:4] for row in ROWS], capsys) == NARROW


def test_columns_move_together_where_there_is_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "WIDTH", 95)
    assert printed(HEAD, ROWS, capsys) == WIDE


def test_words_are_broken_before_numbers_are(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(HEAD, [[*row[:-1], "a very long verdict in many words"] for row in ROWS], capsys)
    assert max(map(len, text.splitlines())) <= 100
    assert "100.0 % [83.9, 100.0]" in text and "lazy-informed" in text
