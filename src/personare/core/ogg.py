"""Ogg files without chance in them: libsndfile numbers each stream by the clock, which tells when it was written.

The serial number of every page is set to 1 and the page's checksum is made anew (RFC 3533, section 6), so that the same
sound gives the same bytes.
"""

from __future__ import annotations

import struct
import zlib

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_PAGE_HEAD = 27
SERIAL = 1


def without_serial(content: bytes) -> bytes:
    """Give the same Ogg file with serial number 1 on each page; what is no whole page stays as it is."""
    pages = bytearray(content)
    place = 0
    while pages[place : place + 4] == b"OggS" and place + _PAGE_HEAD <= len(pages):
        segments = pages[place + 26]
        body = sum(pages[place + _PAGE_HEAD : place + _PAGE_HEAD + segments])
        end = place + _PAGE_HEAD + segments + body
        struct.pack_into("<I", pages, place + 14, SERIAL)
        struct.pack_into("<I", pages, place + 22, 0)
        struct.pack_into("<I", pages, place + 22, page_checksum(bytes(pages[place:end])))
        place = end
    return bytes(pages)


def page_checksum(page: bytes) -> int:
    """CRC-32 of polynomial 0x04c11db7 as Ogg has it (nothing reflected), by zlib's, which reflects every byte.

    >>> hex(page_checksum(b"123456789"))
    '0x89a1897f'
    """
    reflected = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{reflected:032b}"[::-1], 2)
