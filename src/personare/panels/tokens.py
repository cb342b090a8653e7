"""Invitations: secrets that cannot be guessed; only their digests are kept, so that a stolen folder opens nothing."""

from __future__ import annotations

import hashlib
import re
import secrets

from personare.core.errors import ConfigError

BYTES = 24  # 192 bits
PATTERN = re.compile(r"[A-Za-z0-9_-]{32}")
LONGEST_DAYS = 3650


def new_token() -> str:
    """Draw an invitation from the operating system; 32 letters that may stand in an address.

    >>> len(new_token()), new_token() == new_token()
    (32, False)
    """
    return secrets.token_urlsafe(BYTES)


def digest_of(token: str) -> str:
    """Give what is kept of a token. A secret of 192 bits needs no salt and no slow hash.

    >>> len(digest_of("a"))
    64
    """
    return hashlib.sha256(b"personare-panel\0" + token.encode()).hexdigest()


def looks_right(token: object) -> bool:
    """Whether something has the form of a token; anything else is refused before the answers are asked.

    >>> looks_right(new_token()), looks_right("x"), looks_right(None)
    (True, False, False)
    """
    return isinstance(token, str) and PATTERN.fullmatch(token) is not None


def checked_days(days: float) -> float:
    """Refuse an absurd time of validity."""
    if not 0 < days <= LONGEST_DAYS:
        raise ConfigError(f"invitations are valid for more than 0 and at most {LONGEST_DAYS} days, not {days:g}")
    return days
