"""The listening panel as a server: who is let in, what comes next, sounds of the trial at hand, answers kept at once.

A browser gets the sounds of its own next trial and nothing else. Nothing it is sent tells what a sound is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from personare.panels.answer_rules import AnswerError, check_time, checked_answer, checked_listening
from personare.panels.folder import PanelFolder, PlannedTrial
from personare.panels.store import AnswerStore, Evaluator, Login
from personare.panels.tokens import digest_of
from personare.web.guard import LOOPBACK, Guard, RateLimit, RequestError, answering, json_object
from personare.web.serving import Files, file_routes, static_files

COOKIE, CSRF = "personare", "x-csrf"
HEADPHONE_TRIES = 2
PAGE = "panel.html"
FILES = (
    PAGE,
    "icon.svg",
    "look.css",
    "panel.css",
    "panel.js",
    "dom.js",
    "player.js",
    "ratings.js",
    "abx.js",
    "clustering.js",
)


@dataclass(eq=False)
class PanelServer:
    """One panel, its answers, and the limits on how often it may be asked."""

    panel: PanelFolder
    store: AnswerStore
    secure: bool = False
    files: Files = field(default_factory=lambda: static_files(*FILES))
    wrong_tokens: RateLimit = field(default_factory=lambda: RateLimit(per_second=0.2, burst=20))
    requests: RateLimit = field(default_factory=lambda: RateLimit(per_second=20, burst=200))

    def app(self, hosts: tuple[str, ...] = LOOPBACK) -> ASGIApp:
        """Give the whole server."""
        routes = [
            *file_routes(self.files, page=PAGE),
            Route("/audio/{token}", answering(self._audio, told=AnswerError)),
            Route("/api/enter", answering(self._enter, told=AnswerError), methods=["POST"]),
            Route("/api/state", answering(self._state, told=AnswerError)),
            Route("/api/consent", answering(self._consent, told=AnswerError), methods=["POST"]),
            Route("/api/headphones", answering(self._headphones, told=AnswerError), methods=["POST"]),
            Route("/api/answer", answering(self._answer, told=AnswerError), methods=["POST"]),
            Route("/api/overview", answering(self._overview, told=AnswerError)),
        ]
        return Guard(Starlette(routes=routes), hosts=hosts)

    # who asks

    async def _enter(self, request: Request) -> Response:
        """Let a browser in by its invitation; the cookie is for this server only, and no script can read it.

        Wrong invitations slow down only themselves: people often share an address, and nobody guesses 192 bits.
        """
        given = json_object(await request.body())
        login = await run_in_threadpool(self.store.enter, given.get("token"))
        if login is None:
            if not self.wrong_tokens.spend(request.client.host if request.client else ""):
                raise RequestError(429, "too many wrong invitations; wait a minute")
            raise RequestError(403, "this invitation is not valid, or not any more")
        answer = JSONResponse({"ok": True})
        left_s = int(login.evaluator.expires - self.store.now())
        answer.set_cookie(
            COOKIE, login.cookie, max_age=max(1, left_s), httponly=True, samesite="strict", secure=self.secure, path="/"
        )
        return answer

    async def _login(self, request: Request, *, writes: bool = False) -> Login:
        """Recognise the browser; what changes something must carry the token that only our page knows."""
        login = await run_in_threadpool(self.store.login, request.cookies.get(COOKIE))
        if login is None:
            raise RequestError(401, "open the page by your invitation")
        if not self.requests.spend(digest_of(login.cookie)):
            raise RequestError(429, "too many requests; wait a moment")
        if writes and request.headers.get(CSRF) != login.csrf:
            raise RequestError(403, "load the page again")
        return login

    # what comes next

    async def _state(self, request: Request) -> Response:
        login = await self._login(request)
        return JSONResponse(await run_in_threadpool(self._told, login))

    def _told(self, login: Login) -> dict[str, Any]:
        """Say what the page must show now."""
        s, who = self.panel.settings, login.evaluator
        told: dict[str, Any] = {"csrf": login.csrf, "role": who.role, "test": s.test, "title": s.title}
        told |= {"consent": s.consent, "contact": s.contact, "evaluator": who.evaluator}
        if who.role == "admin":
            return told | {"step": "overview"}
        if who.consented is None or who.session is None:
            return told | {"step": "consent", "trials": len(self.panel.sessions[1]), "language": s.language}
        if who.headphones is None:
            sounds = [{"id": token, "part": str(i + 1)} for i, token in enumerate(s.headphones)]
            return told | {"step": "headphones", "sounds": sounds, "again": who.headphone_tries > 0}
        trial, total = self._next(who)
        told |= {"done": total if trial is None else trial.number - 1, "total": total}
        if trial is None:
            return told | {"step": "done"}
        self.store.note_shown(who.evaluator, trial.number)
        heard: list[dict[str, Any]] = [{"id": x.token, "part": x.part, "seconds": x.seconds} for x in trial.stimuli]
        return told | {"step": "trial", "trial": trial.number, "sounds": heard}

    def _next(self, who: Evaluator) -> tuple[PlannedTrial | None, int]:
        trials = self.panel.sessions[who.session or 1]
        done = self.store.answered(who.evaluator)
        return (trials[done] if done < len(trials) else None), len(trials)

    # what people do

    async def _consent(self, request: Request) -> Response:
        login = await self._login(request, writes=True)
        given = json_object(await request.body())
        if given.get("agree") is not True:
            raise RequestError(422, "nothing begins without consent")
        native = given.get("native") if self.panel.settings.language else None
        if native is not None and not isinstance(native, bool):
            raise RequestError(422, "native is yes (true), no (false) or not said (null)")
        who, sessions = login.evaluator, list(self.panel.sessions)
        if who.role == "evaluator":
            await run_in_threadpool(lambda: self.store.consent(who.evaluator, sessions, native=native))
        return await self._state(request)

    async def _headphones(self, request: Request) -> Response:
        login = await self._login(request, writes=True)
        who, right = login.evaluator, list(self.panel.settings.headphones.values())
        choices = json_object(await request.body()).get("choices")
        if who.consented is None or who.headphones is not None:
            raise RequestError(409, "this is not what comes next; load the page again")
        if not isinstance(choices, list) or len(choices) != len(right) or any(c not in (1, 2, 3) for c in choices):
            raise RequestError(422, "choose the quietest tone in every round")
        last = who.headphone_tries + 1 >= HEADPHONE_TRIES
        await run_in_threadpool(lambda: self.store.tried_headphones(who.evaluator, passed=choices == right, last=last))
        return await self._state(request)

    async def _answer(self, request: Request) -> Response:
        """Keep an answer; the reply is sent when the disk has it."""
        login = await self._login(request, writes=True)
        who, given = login.evaluator, json_object(await request.body())
        if who.headphones is None or who.session is None:
            raise RequestError(409, "this is not what comes next; load the page again")
        trial, _ = await run_in_threadpool(self._next, who)
        if trial is None or given.get("trial") != trial.number:
            raise RequestError(409, "this is not what comes next; load the page again")
        answer = checked_answer(self.panel.settings.test, trial, given.get("answer"))
        listening = checked_listening(trial, given.get("listening"))
        elapsed_s, sent = await run_in_threadpool(self.store.since_shown, who.evaluator, trial.number)
        check_time(trial, listening, elapsed_s=elapsed_s, sent=sent)
        if not await run_in_threadpool(self.store.answer, who, trial.number, answer, listening):
            raise RequestError(409, "this is not what comes next; load the page again")
        return await self._state(request)

    async def _audio(self, request: Request) -> Response:
        """Send a sound of the trial at hand; the file's name comes from the design, not from the request."""
        login = await self._login(request)
        allowed, trial = await run_in_threadpool(self._sounds, login.evaluator)
        token = next((t for t in allowed if t == request.path_params["token"]), None)
        if token is None:
            raise RequestError(404, "there is no such sound")
        if trial is not None:
            await run_in_threadpool(self.store.note_sent, login.evaluator.evaluator, trial, token)
        return FileResponse(self.panel.sound(token), media_type="audio/flac")

    def _sounds(self, who: Evaluator) -> tuple[list[str], int | None]:
        """Give the sounds this person may get now, and the trial they belong to."""
        if who.role != "evaluator" or who.consented is None:
            return [], None
        if who.headphones is None:
            return list(self.panel.settings.headphones), None
        trial, _ = self._next(who)
        return ([], None) if trial is None else ([s.token for s in trial.stimuli], trial.number)

    async def _overview(self, request: Request) -> Response:
        """Show the panel's owner how far everybody is; never an answer."""
        login = await self._login(request)
        if login.evaluator.role != "admin":
            raise RequestError(403, "this is for whoever runs the panel")

        def rows() -> list[dict[str, Any]]:
            return [
                {
                    "evaluator": p.evaluator,
                    "done": self.store.answered(p.evaluator),
                    "total": len(self.panel.sessions[p.session]) if p.session else 0,
                    "headphones": p.headphones,
                }
                for p in self.store.evaluators()
            ]

        return JSONResponse({"evaluators": await run_in_threadpool(rows)})
