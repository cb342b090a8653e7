"""The wire format of protobuf, as far as ONNX files need it: records of a field's number and a value, read and written.

A message is a sequence of records; a value is a whole number (varint) or bytes, which may be a message again. Floats
are read as their four or eight bytes. Nothing in a message can run.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from personare.core.errors import WeightsError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
_BITS_64 = (1 << 64) - 1


@dataclass(frozen=True)
class Message:
    """A message: the values of every field, by the field's number."""

    fields: Mapping[int, Sequence[int | bytes]]

    def __contains__(self, number: int) -> bool:
        return number in self.fields

    def integers(self, number: int) -> list[int]:
        """Every whole number of a field."""
        return [value for value in self.fields.get(number, ()) if isinstance(value, int)]

    def packed_integers(self, number: int) -> list[int]:
        """Every whole number of a field that is written as one record of many, or one by one."""
        found = self.integers(number)
        for part in self.parts(number):
            view, place = memoryview(part), 0
            while place < len(view):
                value, place = _read_varint(view, place)
                found.append(value)
        return found

    def parts(self, number: int) -> list[bytes]:
        """Every message or text of a field, as bytes."""
        return [value for value in self.fields.get(number, ()) if isinstance(value, bytes)]

    def integer(self, number: int) -> int:
        """The whole number of a field; 0 if there is none."""
        return (self.integers(number) or [0])[-1]

    def part(self, number: int) -> bytes:
        """The bytes of a field; none if there is none."""
        return (self.parts(number) or [b""])[-1]

    def texts(self, number: int) -> tuple[str, ...]:
        """Every text of a field."""
        try:
            return tuple(part.decode("utf-8") for part in self.parts(number))
        except UnicodeDecodeError as error:
            raise WeightsError(f"no readable protobuf message: field {number} is no text ({error.reason})") from None

    def text(self, number: int) -> str:
        """The text of a field; empty if there is none."""
        return (self.texts(number) or ("",))[-1]


def decode(encoded: bytes) -> Message:
    """Read the records of a message; messages within it stay bytes."""
    fields: dict[int, list[int | bytes]] = {}
    for number, value in _records(encoded):
        fields.setdefault(number, []).append(value)
    return Message(fields)


def record(number: int, value: int | float | str | bytes) -> bytes:
    """Write one record: a whole number, a float of 32 bits, or text or bytes with their length before them.

    >>> record(1, 300).hex(), record(2, "ab").hex(), record(3, -1).hex()
    ('08ac02', '12026162', '18ffffffffffffffffff01')
    """
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | FIXED32) + struct.pack("<f", value)
    content = value.encode("utf-8") if isinstance(value, str) else value
    return _varint(number << 3 | BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Write seven bits a byte, lowest first; negative numbers as their complement of 64 bits."""
    value &= _BITS_64
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _records(encoded: bytes) -> Iterator[tuple[int, int | bytes]]:
    view, place = memoryview(encoded), 0
    while place < len(view):
        key, place = _read_varint(view, place)
        wire = key & 7
        if wire == VARINT:
            value, place = _read_varint(view, place)
            yield key >> 3, value
            continue
        length = {FIXED32: 4, FIXED64: 8}.get(wire, -1)
        if wire == BYTES:
            length, place = _read_varint(view, place)
        if not 0 <= length <= len(view) - place:
            raise WeightsError(f"no readable protobuf message: the record at byte {place} has no end")
        yield key >> 3, bytes(view[place : place + length])
        place += length


def _read_varint(view: memoryview, place: int) -> tuple[int, int]:
    """Read a whole number of 64 bits with its sign; gives it and the place after it."""
    value = 0
    for index, byte in enumerate(view[place : place + 10]):
        value |= (byte & 127) << 7 * index
        if byte < 128:
            value &= _BITS_64
            return value - (1 << 64) if value >> 63 else value, place + index + 1
    raise WeightsError(f"no readable protobuf message: the number at byte {place} has no end")
