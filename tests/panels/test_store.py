"""Invitations and answers on disk: secrets only as digests, everything in order, nothing lost, nothing twice."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from panels.pools import Listened, silent_panel
from personare.core.errors import ConfigError, OutputError
from personare.panels.store import MOST_LOGINS, AnswerStore, Login


def entered(store: AnswerStore, sessions: tuple[int, ...] = (1, 2, 3)) -> Login:
    login = store.enter(store.invite(1, days=1)[0])
    assert login is not None
    store.consent(login.evaluator.evaluator, sessions)
    again = store.login(login.cookie)
    assert again is not None
    return again


def test_secrets_are_kept_as_digests_only(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    tokens = store.invite(3, days=1)
    logins = [store.enter(token) for token in tokens]
    store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    secrets = [*tokens, *(login.cookie for login in logins if login)]
    assert len(set(secrets)) == 6 and not any(secret.encode() in kept for secret in secrets)


def test_a_file_of_an_earlier_version_is_read_on(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    who = entered(store).evaluator.evaluator
    store._db.execute("ALTER TABLE evaluators DROP COLUMN native")
    store.close()
    again = AnswerStore(tmp_path / "answers.sqlite")
    assert [(p.evaluator, p.native) for p in again.evaluators()] == [(who, None)]
    login = again.enter(again.invite(1, days=1)[0])
    assert login is not None
    again.consent(login.evaluator.evaluator, (1,), native=False)
    assert again.evaluators()[1].native is False


def test_the_disk_has_an_answer_when_it_is_acknowledged(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    assert store._rows("PRAGMA journal_mode") == [("wal",)] and store._rows("PRAGMA synchronous") == [(2,)]
    login = entered(store)
    assert store.answer(login.evaluator, 1, {"choice": "A"}, {"page_ms": 5})
    other = sqlite3.connect(tmp_path / "answers.sqlite")  # another process would see the same
    assert other.execute("SELECT trial, answer FROM answers").fetchall() == [(1, '{"choice": "A"}')]
    other.close()


def test_invitations_expire_and_are_of_one_panel(tmp_path: Path) -> None:
    now = [1000.0]
    store = AnswerStore(tmp_path / "a" / "answers.sqlite", clock=lambda: now[0])
    token = store.invite(1, days=2)[0]
    login = store.enter(token)
    assert login is not None and store.login(login.cookie) is not None
    other = AnswerStore(tmp_path / "b" / "answers.sqlite")
    assert other.enter(token) is None and other.login(login.cookie) is None
    now[0] += 2 * 86_400 + 1
    assert store.enter(token) is None and store.login(login.cookie) is None
    for days in (0, -1, 1e9, float("nan")):
        with pytest.raises(ConfigError, match="invitations are valid"):
            store.invite(1, days=days)


@pytest.mark.parametrize("token", [None, "", "x", 7, ["a"], "a" * 31, "a" * 33, "' OR 1=1 --" + "a" * 21, "ä" * 32])
def test_what_is_no_token_lets_nobody_in(tmp_path: Path, token: object) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    store.invite(1, days=1)
    assert store.enter(token) is None and store.login(token) is None


def test_the_same_invitation_goes_on_elsewhere_on_few_devices(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    token = store.invite(1, days=1)[0]
    logins = [store.enter(token) for _ in range(MOST_LOGINS + 2)]
    known = [login is not None and store.login(login.cookie) is not None for login in logins]
    assert known == [False] * 2 + [True] * MOST_LOGINS
    assert len({login.evaluator.evaluator for login in logins if login}) == 1


def test_sessions_are_given_out_evenly(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    assert [entered(store).evaluator.session for _ in range(7)] == [1, 2, 3, 1, 2, 3, 1]
    again = entered(store)
    store.consent(again.evaluator.evaluator, (1, 2, 3))
    same = store.login(again.cookie)
    assert same is not None and same.evaluator.session == again.evaluator.session, "consent counts once"


def test_answers_come_in_order_and_once(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "abx", sessions=1)
    now = [50.0]
    store = AnswerStore(panel.answers, clock=lambda: now[0])
    login = entered(store, (1,))
    first, second = panel.sessions[1][:2]
    store.note_shown(login.evaluator.evaluator, 1)
    now[0] = 58.0
    store.note_shown(login.evaluator.evaluator, 1)  # a reload does not begin anew
    now[0] = 60.0
    assert not store.answer(login.evaluator, 2, {"choice": "A"}, Listened(second).report)
    assert store.answer(login.evaluator, 1, {"choice": "A"}, Listened(first).report)
    assert not store.answer(login.evaluator, 1, {"choice": "B"}, Listened(first).report)
    row = store.answers()[0]
    assert row["answer"] == {"choice": "A"} and (row["shown"], row["answered"]) == (50.0, 60.0)
    assert store.answered(login.evaluator.evaluator) == 1


def test_a_place_that_cannot_hold_answers_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="answers cannot be kept here"):
        AnswerStore(tmp_path / "file" / "answers.sqlite")
    (tmp_path / "no.sqlite").write_text("this is no database" * 100)
    with pytest.raises(OutputError, match="answers cannot be kept here"):
        AnswerStore(tmp_path / "no.sqlite")
