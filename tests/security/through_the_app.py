"""Go through the app as its page does: a folder of recordings, hide all voices, let attackers listen, get the report.

``python through_the_app.py RECORDINGS JOBS``; tests run it in a network namespace, where only loopback is there.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from web.servers import started
from web.test_app_server import AppClient


def main(recordings: Path, jobs: Path) -> None:
    with started("app", "--no-open", "--folder", jobs) as server:
        client = AppClient.of(server)
        assert client.ask("/api/enter", {"token": server.token})[0] == 200
        assert client.ask("/api/state")[0] == 200
        job = client.ask("/api/jobs", {"folder": str(recordings)})[1]["id"]
        _ended(client, job, "read")
        for phase, how in (("preview", {"strength": "fast"}), ("hide", {"strength": "fast"}), ("attack", {})):
            assert client.ask(f"/api/jobs/{job}/act", {"action": phase, **how})[0] == 200
            _ended(client, job, phase)
        assert client.ask(f"/api/jobs/{job}/file/report")[0] == 200


def _ended(client: AppClient, job: str, phase: str) -> None:
    while True:
        state: dict[str, Any] = client.ask(f"/api/jobs/{job}")[1]
        ended = state["ended"][phase]
        if ended is not None:
            assert ended["ok"], ended
            return
        assert state["status"] == "running", state
        time.sleep(0.2)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
