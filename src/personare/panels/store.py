"""Answers on disk: an answer that was acknowledged is there after any crash; one row each, with its timing.

SQLite with a write-ahead log and full synchronization: a commit returns when the disk has it. Every statement takes its
values as parameters. Evaluators are opaque tokens; of invitations and logins only digests are kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from personare.core.errors import OutputError
from personare.core.files import PRIVATE_FILE, PRIVATE_FOLDER, make_folder
from personare.panels.tokens import checked_days, digest_of, looks_right, new_token

Role = Literal["evaluator", "admin"]
DAY_S = 86_400.0
MOST_LOGINS = 5  # devices on which one evaluator can go on
_TABLES = """
CREATE TABLE IF NOT EXISTS evaluators (
  evaluator TEXT PRIMARY KEY, role TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, created REAL NOT NULL,
  expires REAL NOT NULL, session INTEGER, consented REAL, headphone_tries INTEGER NOT NULL DEFAULT 0,
  headphones INTEGER, native INTEGER);
CREATE TABLE IF NOT EXISTS logins (
  digest TEXT PRIMARY KEY, evaluator TEXT NOT NULL REFERENCES evaluators, csrf TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS shown (
  evaluator TEXT NOT NULL, trial INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (evaluator, trial));
CREATE TABLE IF NOT EXISTS sent (
  evaluator TEXT NOT NULL, trial INTEGER NOT NULL, sound TEXT NOT NULL, PRIMARY KEY (evaluator, trial, sound));
CREATE TABLE IF NOT EXISTS answers (
  evaluator TEXT NOT NULL REFERENCES evaluators, session INTEGER NOT NULL, trial INTEGER NOT NULL,
  answer TEXT NOT NULL, listening TEXT NOT NULL, shown REAL, answered REAL NOT NULL,
  PRIMARY KEY (evaluator, trial));
"""


@dataclass(frozen=True)
class Evaluator:
    """One person behind an opaque token: how far they are; ``headphones`` is None until the check is over.

    ``native`` tells whether the language of the recordings is their first one; None where they did not say.
    """

    evaluator: str
    role: Role
    expires: float
    session: int | None
    consented: float | None
    headphone_tries: int
    headphones: bool | None
    native: bool | None = None


@dataclass(frozen=True)
class Login:
    """A browser that was let in: its cookie (a secret, given once), and the token its requests must carry."""

    cookie: str
    csrf: str
    evaluator: Evaluator


class AnswerStore:
    """The file of answers; safe to use from several threads, and from other processes at the same time."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._lock = clock, threading.Lock()
        try:
            make_folder(path.parent, mode=PRIVATE_FOLDER)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))  # SQLite gives its other files the same mode
            path.chmod(PRIVATE_FILE)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.executescript(_TABLES)
            columns = [row[1] for row in self._db.execute("PRAGMA table_info(evaluators)")]
            if "native" not in columns:  # a file of an earlier version
                self._db.execute("ALTER TABLE evaluators ADD COLUMN native INTEGER")
        except (sqlite3.Error, OSError) as error:
            raise OutputError(f"{path}: answers cannot be kept here ({error})") from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def now(self) -> float:
        """The time by which invitations expire."""
        return self._clock()

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; on disk when the block ends."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    # who may come

    def invite(self, count: int, *, days: float, role: Role = "evaluator") -> list[str]:
        """Make invitations; they are given back once, and only their digests are kept."""
        now, expires = self._clock(), self._clock() + DAY_S * checked_days(days)
        tokens = [new_token() for _ in range(count)]
        rows = [(f"e{secrets.token_hex(4)}", role, digest_of(token), now, expires) for token in tokens]
        with self._change() as db:
            db.executemany(
                "INSERT INTO evaluators (evaluator, role, digest, created, expires) VALUES (?, ?, ?, ?, ?)", rows
            )
        return tokens

    def enter(self, token: object) -> Login | None:
        """Let a browser in by its invitation; None for one that is unknown or has expired."""
        if not looks_right(token):
            return None
        found = self._evaluators("digest = ? AND expires > ?", digest_of(str(token)), self._clock())
        if not found:
            return None
        login = Login(new_token(), secrets.token_urlsafe(16), found[0])
        who = found[0].evaluator
        with self._change() as db:
            db.execute(
                "INSERT INTO logins VALUES (?, ?, ?, ?)", (digest_of(login.cookie), who, login.csrf, self._clock())
            )
            db.execute(
                "DELETE FROM logins WHERE evaluator = ? AND digest NOT IN "
                "(SELECT digest FROM logins WHERE evaluator = ? ORDER BY created DESC, rowid DESC LIMIT ?)",
                (who, who, MOST_LOGINS),
            )
        return login

    def login(self, cookie: object) -> Login | None:
        """Recognise a browser by its cookie, for as long as the invitation is valid."""
        if not looks_right(cookie):
            return None
        rows = self._rows("SELECT evaluator, csrf FROM logins WHERE digest = ?", digest_of(str(cookie)))
        found = self._evaluators("evaluator = ? AND expires > ?", rows[0][0], self._clock()) if rows else []
        return Login(str(cookie), rows[0][1], found[0]) if found else None

    def _evaluators(self, condition: str, *values: Any) -> list[Evaluator]:
        columns = "evaluator, role, expires, session, consented, headphone_tries, headphones, native"
        rows = self._rows(f"SELECT {columns} FROM evaluators WHERE {condition}", *values)  # noqa: S608 - our own words
        return [Evaluator(*plain, *(None if flag is None else bool(flag) for flag in (h, m))) for *plain, h, m in rows]

    def evaluators(self) -> list[Evaluator]:
        """Everybody who was invited, in the order of invitation."""
        return self._evaluators("role = 'evaluator' ORDER BY created, rowid")

    # how far they are

    def consent(self, evaluator: str, sessions: Sequence[int], *, native: bool | None = None) -> None:
        """Note consent, and give the evaluator the session that fewest people have, the first one among equals."""
        with self._change() as db:
            taken = dict(db.execute("SELECT session, COUNT(*) FROM evaluators WHERE session > 0 GROUP BY session"))
            free = min(sessions, key=lambda number: (taken.get(number, 0), number))
            db.execute(
                "UPDATE evaluators SET consented = ?, session = ?, native = ? "
                "WHERE evaluator = ? AND consented IS NULL",
                (self._clock(), free, native, evaluator),
            )

    def tried_headphones(self, evaluator: str, *, passed: bool, last: bool) -> None:
        """Count a try of the headphone check; it is over when it was passed, or was the last one."""
        over = int(passed) if passed or last else None
        with self._change() as db:
            db.execute(
                "UPDATE evaluators SET headphone_tries = headphone_tries + 1, headphones = ? "
                "WHERE evaluator = ? AND headphones IS NULL",
                (over, evaluator),
            )

    def answered(self, evaluator: str) -> int:
        """Count the answers of an evaluator; trials are answered one after the other."""
        return int(self._rows("SELECT COUNT(*) FROM answers WHERE evaluator = ?", evaluator)[0][0])

    def note_shown(self, evaluator: str, trial: int) -> None:
        """Note when a trial was first shown."""
        if not self._rows("SELECT 1 FROM shown WHERE evaluator = ? AND trial = ?", evaluator, trial):
            with self._change() as db:
                db.execute("INSERT OR IGNORE INTO shown VALUES (?, ?, ?)", (evaluator, trial, self._clock()))

    def note_sent(self, evaluator: str, trial: int, sound: str) -> None:
        """Note that a sound of a trial was sent to an evaluator."""
        with self._change() as db:
            db.execute("INSERT OR IGNORE INTO sent VALUES (?, ?, ?)", (evaluator, trial, sound))

    def since_shown(self, evaluator: str, trial: int) -> tuple[float, set[str]]:
        """Give the seconds since a trial was first shown (0 where it was not), and its sounds that were sent."""
        shown = self._rows("SELECT at FROM shown WHERE evaluator = ? AND trial = ?", evaluator, trial)
        sent = self._rows("SELECT sound FROM sent WHERE evaluator = ? AND trial = ?", evaluator, trial)
        return self._clock() - shown[0][0] if shown else 0.0, {str(row[0]) for row in sent}

    def answer(self, who: Evaluator, trial: int, answer: Mapping[str, Any], listening: Mapping[str, Any]) -> bool:
        """Keep an answer; when this returns, the disk has it. False for a trial that is not the next one."""
        with self._change() as db:
            done = db.execute("SELECT COUNT(*) FROM answers WHERE evaluator = ?", (who.evaluator,)).fetchone()[0]
            if trial != done + 1:
                return False
            seen = db.execute("SELECT at FROM shown WHERE evaluator = ? AND trial = ?", (who.evaluator, trial))
            shown = (seen.fetchone() or (None,))[0]
            values = (json.dumps(answer, sort_keys=True), json.dumps(listening, sort_keys=True), shown, self._clock())
            db.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", (who.evaluator, who.session, trial, *values))
        return True

    def answers(self) -> list[dict[str, Any]]:
        """Every answer, in the order of answering."""
        columns = ("evaluator", "session", "trial", "answer", "listening", "shown", "answered")
        rows = self._rows(f"SELECT {', '.join(columns)} FROM answers ORDER BY answered, evaluator")  # noqa: S608
        plain = (dict(zip(columns, row, strict=True)) for row in rows)
        return [r | {"answer": json.loads(r["answer"]), "listening": json.loads(r["listening"])} for r in plain]
