"""Tables in a terminal: within 80 or 100 columns, numbers to the right and unbroken, every cell as it is."""

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


HEAD_ALONE = (
    *("method", "attacker\n(* strongest)", "L", "EER\n[95 %]", "EER\nchance"),
    *("linkability\n[95 %]", "N", "linked\nchance", "verdict"),
)
BELOW = """\
Two attacks
        attacker                     EER    EER         linkability
method  (* strongest) L           [95 %] chance              [95 %] verdict
─────────────────────────────────────────────────────────────────────────────
mcadams informed *    1 1.0 % [0.5, 2.0] 46.0 % 90.0 % [80.0, 99.0] not shown
mcadams informed *    3 1.0 % [0.5, 2.0] 46.1 % 90.0 % [80.0, 99.0] not shown
mcadams semi-informed 1 1.0 % [0.5, 2.0] 46.0 % 90.0 % [80.0, 99.0] not shown
mcadams semi-informed 3 1.0 % [0.5, 2.0] 46.1 % 90.0 % [80.0, 99.0] not shown
In all rows: N 20, linked chance 5.0 %.
"""
METHODS = ["mcadams", "anonymizer-of-our-own"]
ATTACKERS = ["informed *", "semi-informed", "lazy-informed", "ignorant"]


def attacks() -> list[list[str]]:
    """Several methods, as summary_rows lays them out, with the longest numbers there are."""
    return [
        [
            m,
            who,
            length,
            "100.0 % [100.0, 100.0]",
            f"46.{place} %",
            "100.0 % [100.0, 100.0]",
            "20",
            "5.0 %",
            "not shown",
        ]
        for m in METHODS
        for who in ATTACKERS
        for place, length in enumerate(("1", "3"))
    ]


@pytest.mark.parametrize("width", [80, 90, 100, 140])
def test_the_attackers_on_several_methods_fit_and_no_word_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = printed([*HEAD_ALONE], attacks(), capsys)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    words = {word for row in [HEAD_ALONE, *attacks()] for cell in row for word in cell.split()}
    shown = set(text.split()) | {word.rstrip(".,") for word in text.split()}
    assert words - {"method"} <= shown, "every word stands there as it is; methods may be headings without a head"
    assert ("In all rows: N 20, linked chance 5.0 %." in text) == (width < 140)


def test_what_is_the_same_in_all_rows_is_said_once_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [[*row[:3], "1.0 % [0.5, 2.0]", row[4], "90.0 % [80.0, 99.0]", *row[6:]] for row in attacks()[:4]]
    assert printed([*HEAD_ALONE], rows, capsys) == BELOW
    show.text("A value of 45.0 % [30.0, 60.0] stays on one line, and words stay whole: linkability, singling-out.")
    assert capsys.readouterr().out == (
        "A value of 45.0 % [30.0, 60.0] stays on one line, and words stay whole:\nlinkability, singling-out.\n"
    )


def test_words_are_broken_before_numbers_are(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(HEAD, [[*row[:-1], "a very long verdict in many words"] for row in ROWS], capsys)
    assert max(map(len, text.splitlines())) <= 100
    assert "100.0 % [83.9, 100.0]" in text and "lazy-informed" in text


def test_a_failure_names_its_file_once(capsys: pytest.CaptureFixture[str]) -> None:
    show.failures([("a.wav", "a.wav: not audio"), ("u1", "/b.wav: not audio")])
    assert capsys.readouterr().err.splitlines() == ["failed: a.wav: not audio", "failed: u1: /b.wav: not audio"]


def test_what_is_said_beside_the_result_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "note: " + " ".join(["unbreakable"] * 20)
    show.aside(words)
    assert capsys.readouterr().err == f"{words}\n", "a line for programs"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    show.aside(words)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 80 and " ".join(lines) == words and len(lines) > 1
