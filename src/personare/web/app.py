"""The local app as a server: for the person at this machine only, who has the address with its one-time token.

It answers under a random name below ``localhost`` only: browsers send a cookie to every port of a host, and no other
server of this machine knows that name. Work runs in processes of its own and leaves its state in the job's folder; this
server starts and stops it, and shows how far it is. A job that was being worked on when the server ended goes on when
it starts again.
"""

from __future__ import annotations

import secrets
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from personare import api
from personare.core.errors import PersonareError
from personare.core.files import write_text
from personare.core.processes import PYTHON
from personare.panels.tokens import digest_of, looks_right, new_token
from personare.web.guard import Guard, Handler, RequestError, answering, json_object
from personare.web.job_actions import act, job_state, listing, may_be_given_away, other_methods, spoken_languages
from personare.web.job_folders import (
    ID,
    PROGRESS,
    UNCERTAIN,
    UPLOAD_DAYS,
    JobFolder,
    Phase,
    expire_uploads,
    jobs_in,
    new_job,
    new_upload,
    refuse_upload,
)
from personare.web.serving import Files, file_routes, static_files

COOKIE, CSRF = "personare-app", "x-csrf"
PAGE = "app.html"
FILES = (PAGE, "icon.svg", "look.css", "app.css", "app.js", "choices.js", "dom.js", "steps.js", "spectrogram.js")
MOST_BYTES = 5 * 1024 * 1024  # a piece of an uploaded file
MOST_FILE = 4 * 1024**3
REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; frame-ancestors 'none'"
GIVEN = {"zip": "anonymized.zip", "evidence": "evidence.pdf", "report": "report/report.html"}


@dataclass(eq=False)
class AppServer:
    """The app: its jobs, the processes at work, and who may ask. ``token`` lets one browser in, once."""

    folder: Path
    token: str = field(default_factory=new_token)
    files: Files = field(default_factory=lambda: static_files(*FILES))
    name: str = field(default_factory=lambda: f"app-{secrets.token_hex(8)}.localhost")
    door: Path | None = None
    _cookie: str = ""
    _csrf: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    _work: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _uploads: dict[str, Path] = field(default_factory=dict)  # files that are being copied, by a name that we gave
    _acting: threading.RLock = field(default_factory=threading.RLock)  # two clicks at once are one after the other

    def app(self) -> ASGIApp:
        """Give the whole server, delete copies that are too old, and go on with what was being worked on."""
        for job in jobs_in(self.folder):
            expire_uploads(job, now=time.time())
            facts = job.facts()
            if facts.status == "running" and job.ended(facts.phase) is None:
                self.start(job, facts.phase)
        routes = [
            *file_routes(self.files, page=PAGE),
            Route("/api/enter", answering(self._enter, told=PersonareError), methods=["POST"]),
            Route("/api/state", self._guarded(self._state)),
            Route("/api/folders", self._guarded(self._folders)),
            Route("/api/jobs", self._guarded(self._new_job, writes=True), methods=["POST"]),
            Route("/api/jobs/{job}", self._guarded(self._job)),
            Route("/api/jobs/{job}/people", self._guarded(self._people)),
            Route("/api/jobs/{job}/upload", self._guarded(self._upload, writes=True), methods=["POST"]),
            Route("/api/jobs/{job}/act", self._guarded(self._act, writes=True), methods=["POST"]),
            Route("/api/jobs/{job}/sound/{number:int}/{kind}", self._guarded(self._sound)),
            Route("/api/jobs/{job}/file/{name}", self._guarded(self._file)),
        ]
        return Guard(Starlette(routes=routes), hosts=(self.name,), most_bytes=MOST_BYTES)

    def write_door(self, address: str) -> Path:
        """Write a page that leads to the address and that only its owner can read; it goes when it was used.

        A browser is started with its path: a command line can be read by every user of the machine.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in self.folder.glob("open-*.html"):  # of a server that was killed; its token is worth nothing
            left.unlink(missing_ok=True)
        self.door = self.folder / f"open-{secrets.token_hex(6)}.html"
        page = f'<!doctype html><meta http-equiv="refresh" content="0;url={address}"><title>personare</title>'
        write_text(self.door, page + "\n", mode=0o600)
        return self.door

    def close_door(self) -> None:
        """Remove that page."""
        if self.door is not None:
            self.door.unlink(missing_ok=True)
            self.door = None

    # work

    def start(self, job: JobFolder, phase: Phase) -> None:
        """Begin a phase, or go on with it."""
        self.stop(job)
        (job.path / PROGRESS).unlink(missing_ok=True)
        (job.path / f"done-{phase}.json").unlink(missing_ok=True)
        job.change(phase=phase, status="running")
        log = (job.path / "log.txt").open("ab")
        words = [*PYTHON, "-m", "personare.web.job_work", str(job.path), phase]
        with log:
            # the process ends when its input does: not even a killed server leaves one behind that works on
            self._work[job.id] = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log)  # noqa: S603

    def stop(self, job: JobFolder) -> None:
        """End the process of a job; what it has done stays."""
        process = self._work.pop(job.id, None)
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def stop_all(self) -> None:
        """End every process; jobs go on when the app starts again."""
        for job in list(jobs_in(self.folder)):
            self.stop(job)

    def at_work(self, job: JobFolder) -> bool:
        """Whether a process works on this job."""
        process = self._work.get(job.id)
        return process is not None and process.poll() is None

    # who asks

    async def _enter(self, request: Request) -> Response:
        """Let the first browser in that brings the token; the token is worth nothing afterwards.

        Wrong tokens are not counted: nobody guesses 192 bits, and a count would let anybody lock the owner out.
        """
        given = json_object(await request.body()).get("token")
        if not looks_right(given) or not self.token or not secrets.compare_digest(str(given), self.token):
            raise RequestError(403, "this address was used already, or is wrong; start the app again for a new one")
        self.token, cookie = "", new_token()
        self._cookie = digest_of(cookie)
        self.close_door()
        answer = JSONResponse({"ok": True})
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _guarded(self, handler: Handler, *, writes: bool = False) -> Handler:
        async def checked(request: Request) -> Response:
            cookie = request.cookies.get(COOKIE, "")
            known = looks_right(cookie) and secrets.compare_digest(digest_of(cookie), self._cookie or "-")
            if not known:
                raise RequestError(401, "open the app by the address it printed")
            if writes and not secrets.compare_digest(request.headers.get(CSRF, "").encode(), self._csrf.encode()):
                raise RequestError(403, "load the page again")
            return await handler(request)

        return answering(checked, told=PersonareError)

    # what it shows

    async def _state(self, _request: Request) -> Response:
        def told() -> dict[str, Any]:
            jobs = [{"id": job.id, **job_state(job, running=self.at_work(job))} for job in jobs_in(self.folder)]
            choices = {"strengths": api.strengths(), "methods": other_methods(), "languages": spoken_languages()}
            return {"csrf": self._csrf, **choices, "jobs": jobs, "folder": str(self.folder), "days": UPLOAD_DAYS}

        return JSONResponse(await run_in_threadpool(told))

    async def _folders(self, request: Request) -> Response:
        path = request.query_params.get("path") or str(Path.home())
        return JSONResponse(await run_in_threadpool(listing, path))

    def _of(self, request: Request) -> JobFolder:
        name = str(request.path_params["job"])
        job = JobFolder(self.folder / name)
        if not ID.fullmatch(name) or not (job.path / "job.json").is_file():
            raise RequestError(404, "there is no such job")
        return job

    async def _job(self, request: Request) -> Response:
        job = self._of(request)
        return JSONResponse(
            await run_in_threadpool(lambda: {"id": job.id, **job_state(job, running=self.at_work(job))})
        )

    async def _people(self, request: Request) -> Response:
        """List people, some at a time."""
        job = self._of(request)
        start, search = request.query_params.get("from", "0"), request.query_params.get("search", "")[:100].lower()
        if not (start.isascii() and start.isdigit() and len(start) < 10):
            raise RequestError(422, "from is a whole number")

        def rows() -> dict[str, Any]:
            everybody = job.people().to_dicts()
            found = [p for p in everybody if search in p["found"].lower() or search in p["name"].lower()]
            return {"people": found[int(start) : int(start) + 100], "total": len(found), "all": len(everybody)}

        return JSONResponse(await run_in_threadpool(rows))

    async def _sound(self, request: Request) -> Response:
        kind, folder = request.path_params["kind"], request.query_params.get("of", "preview")
        if kind not in ("before", "after") or folder not in ("preview", UNCERTAIN):
            raise RequestError(404, "there is no such sound")
        path = self._of(request).path / folder / f"{request.path_params['number']}-{kind}.flac"
        if not path.is_file():
            raise RequestError(404, "there is no such sound")
        return FileResponse(path, media_type="audio/flac")

    async def _file(self, request: Request) -> Response:
        job, name = self._of(request), str(request.path_params["name"])
        path = job.path / GIVEN.get(name, "nothing")
        if name not in GIVEN or not path.is_file():
            raise RequestError(404, "there is no such file")
        if name == "zip" and not may_be_given_away(job):
            raise RequestError(409, "no attack has shown that these recordings are protected")
        if name == "report":
            return FileResponse(path, media_type="text/html", headers={"content-security-policy": REPORT_CSP})
        return FileResponse(path, filename=path.name)

    # what people do

    async def _new_job(self, request: Request) -> Response:
        given = json_object(await request.body())
        source, rule = given.get("folder") or "", given.get("rule") or ""
        if not isinstance(source, str) or not isinstance(rule, str) or "\0" in source:
            raise RequestError(422, "name a folder")
        if source and not Path(source).expanduser().is_dir():
            raise RequestError(422, f"{source}: no such folder")
        place = str(Path(source).expanduser().resolve()) if source else ""
        title = Path(place).name or place if source else "Dropped recordings"

        def made() -> JobFolder:
            job = new_job(self.folder, source=place, title=title, rule=rule)
            if source:
                self.start(job, "read")
            return job

        return JSONResponse({"id": (await run_in_threadpool(made)).id})

    async def _upload(self, request: Request) -> Response:
        """Take a piece of a dropped file: the first one by its name, later ones by the token of the first answer."""
        job, offset = self._of(request), request.query_params.get("offset", "0")
        name, token = request.query_params.get("name", ""), request.query_params.get("file", "")
        whole = offset.isascii() and offset.isdigit()
        piece = await request.body()

        def keep() -> dict[str, Any]:
            if not token and offset != "0":
                raise RequestError(409, "a piece of the file is missing; drop it again")
            try:
                if not whole or int(offset) + len(piece) > MOST_FILE:
                    raise RequestError(422, f"'{name[-80:]}': a recording has at most 4 GiB")
                place = self._uploads.get(token) if token else new_upload(job, name)
            except (RequestError, PersonareError) as refused:
                with self._acting:
                    refuse_upload(job, name, str(refused))
                raise
            if place is None or not place.is_file() or place.stat().st_size != int(offset):
                raise RequestError(409, "a piece of the file is missing; drop it again")
            with place.open("ab") as stream:
                stream.write(piece)
            given = token or secrets.token_urlsafe(16)
            self._uploads[given] = place
            return {"size": int(offset) + len(piece), "file": given}

        return JSONResponse(await run_in_threadpool(keep))

    async def _act(self, request: Request) -> Response:
        job, given = self._of(request), json_object(await request.body())

        def acted() -> dict[str, Any] | None:
            with self._acting:
                return act(self, job, given)

        told = await run_in_threadpool(acted)
        if not job.path.is_dir():
            return JSONResponse({"gone": True, **(told or {})})
        return JSONResponse({"id": job.id, **job_state(job, running=self.at_work(job))})
