"""Run commands in a folder of their own and see which sockets and files they open.

Two watchers, for each sees what the other cannot. An audit hook in every Python process, brought in by a
``sitecustomize`` on PYTHONPATH, notes each connection and each file opened for writing, with its name. Native code
(onnxruntime is written in C++) passes no hook: where the kernel permits it, commands run in a network namespace that
has nothing but loopback, whose own counters tell of every packet that found no way out; and the empty home folder tells
of every file. No tracer has to be installed.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from personare.core.weights import home

TESTS = Path(__file__).resolve().parents[1]
HOOK = """
import json, os, sys

CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def hook(event, args):
    if event in CONNECTS:
        # the socket itself comes first, where there is one
        told = args[:2] if event in ("socket.getaddrinfo", "socket.gethostbyname") else args[1:2]
        os.write(log, (json.dumps(["address", repr(told)]) + "\\n").encode())
    elif event == "open" and isinstance(args[0], (str, bytes)) and args[2] & WRITES:
        os.write(log, (json.dumps(["file", os.path.realpath(os.fsdecode(args[0]))]) + "\\n").encode())

sys.addaudithook(hook)
"""
# brings loopback up (a new namespace has it switched off), runs the command, and writes the namespace's counters
INSIDE = """
import fcntl, json, os, socket, struct, subprocess, sys
with socket.socket() as one:  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
code = subprocess.call(sys.argv[2:])
counts = {}
lines = [line.split() for line in open("/proc/net/snmp")]
for names, values in zip(lines[::2], lines[1::2]):
    counts |= {names[0][:-1] + name: int(value) for name, value in zip(names[1:], values[1:])}
counts |= {name: int(value) for name, value in map(str.split, open("/proc/net/snmp6"))}
with open(sys.argv[1], "w") as out:
    json.dump(counts, out)
sys.exit(code)
"""
# no route to the address; a datagram to a port of this machine where nobody listens, as a local resolver's
UNANSWERED = ("IpOutNoRoutes", "Ip6OutNoRoutes", "UdpNoPorts", "Udp6NoPorts")


@functools.cache
def can_isolate() -> bool:
    """Whether this machine lets us have a network namespace."""
    if shutil.which("unshare") is None or not Path("/proc/net/snmp6").exists():
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Watched:
    """How a command ended, and what it opened.

    Parameters
    ----------
    addresses : where Python code connected to, or asked the address of.
    packets : packets that found no way out of the namespace; None where there was none.
    files : files that were opened for writing outside the folders that a command may use.
    left : files that lie outside the working folder and the cache now.
    """

    code: int
    output: str
    addresses: set[str]
    packets: int | None
    files: set[str]
    left: list[str]


def watch(box: Path, *words: str | Path, isolated: bool | None = None) -> Watched:
    """Run a command in ``box/work`` with an empty home folder and temporary folder, and a cache of its own."""
    for name in ("home", "tmp", "work", "cache", "hook"):
        (box / name).mkdir(parents=True, exist_ok=True)
    (box / "hook" / "sitecustomize.py").write_text(HOOK)
    log, counts = box / "hook" / "log.jsonl", box / "hook" / "counts.json"
    log.unlink(missing_ok=True)
    if not (box / "cache" / "models").exists() and (home() / "models").is_dir():
        (box / "cache" / "models").symlink_to(home() / "models")
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    paths = [box / "hook", TESTS.parent / "src", TESTS]
    environment = keep | {
        "HOME": str(box / "home"),
        "TMPDIR": str(box / "tmp"),
        "PERSONARE_HOME": str(box / "cache"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "WATCH_LOG": str(log),
    }
    isolated = can_isolate() if isolated is None else isolated
    command = [sys.executable, *map(str, words)]
    if isolated:
        command = ["unshare", "-rn", sys.executable, "-I", "-c", INSIDE, str(counts), *command]
    done = subprocess.run(
        command,
        cwd=box / "work",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    told = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    numbers = json.loads(counts.read_text()) if isolated and counts.exists() else None
    allowed = [(box / name).resolve() for name in ("work", "tmp", "cache")]
    allowed += [home().resolve(), Path("/dev/null")]
    files = {one for kind, one in told if kind == "file" and not any(Path(one).is_relative_to(a) for a in allowed)}
    return Watched(
        code=done.returncode,
        output=done.stdout,
        addresses={one for kind, one in told if kind == "address"},
        packets=None if numbers is None else sum(numbers.get(name, 0) for name in UNANSWERED),
        files=files,
        left=sorted(
            str(p.relative_to(box)) for name in ("home", "tmp") for p in (box / name).rglob("*") if p.is_file()
        ),
    )
