"""A journal gives back every whole line, in order, and nothing of a line that was cut or changed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from personare.core.journal import JournalWriter, decode_line, encode_line, read_journal

VALUES = st.lists(st.one_of(st.text(), st.floats(allow_nan=False), st.none()), max_size=6)


@given(VALUES)
def test_what_is_written_is_read(values: list[str | float | None]) -> None:
    line = encode_line(values)
    assert decode_line(line) == values and line.count(b"\n") == 1


@given(VALUES, st.data())
def test_a_line_that_was_cut_or_changed_says_nothing(values: list[str | float | None], data: st.DataObject) -> None:
    line = encode_line(values)
    cut = data.draw(st.integers(0, len(line) - 1))
    assert decode_line(line[:cut]) is None
    place, bit = data.draw(st.integers(0, len(line) - 1)), data.draw(st.integers(0, 7))
    flipped = bytearray(line)
    flipped[place] ^= 1 << bit
    assert decode_line(bytes(flipped)) is None


def test_lines_after_a_cut_one_are_read(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    writer = JournalWriter(path)
    for number in range(3):
        writer.add(["before", float(number)])
    writer.flush()
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    again = JournalWriter(path)
    again.add(["after", 0.0])
    again.flush()
    assert list(read_journal(path)) == [["before", 0.0], ["before", 1.0], ["after", 0.0]]
    assert list(read_journal(tmp_path / "none")) == []


def test_lines_come_to_the_disk_in_batches_and_at_the_end(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "journal", _flushed_s=float("inf"))
    for number in range(100):
        writer.add([float(number)])
    assert len(list(read_journal(tmp_path / "journal"))) == 64
    writer.flush()
    assert [values[0] for values in read_journal(tmp_path / "journal")] == list(range(100))
