"""An empty environment with nothing but the built wheel in it, as a user gets it by `pip install personare`.

Building and installing take most of a minute, so both are kept in pytest's cache: the environment as long as the
wheel asks for the same packages, the wheel in it as long as its content is the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGED = ("pyproject.toml", "README.md", "LICENSE")
STAMP = "content.sha256"


@dataclass(frozen=True)
class Installed:
    """The environment's folder of commands."""

    commands: Path

    def run(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run one of its commands where the sources cannot be imported from."""
        unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        environment = {name: value for name, value in os.environ.items() if name not in unwanted}
        environment |= {"PATH": f"{self.commands}{os.pathsep}{environment.get('PATH', '')}", "COLUMNS": "200"}
        command = [str(self.commands / str(words[0])), *map(str, words[1:])]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)


def installed(cache: Path) -> Installed:
    """Build the wheel and install it without extras, unless ``cache`` has the very same."""
    place = cache / f"environment-{_digest(_dependencies())[:12]}-{sys.version_info.major}.{sys.version_info.minor}"
    content = _content()
    if not (place / STAMP).is_file() or (place / STAMP).read_text() != content:
        for older in cache.glob("environment-*"):
            if older != place:
                shutil.rmtree(older)
        (place / STAMP).unlink(missing_ok=True)
        _install(_built(cache), place)
        (place / STAMP).write_text(content)
    return Installed(place / "bin")


def _built(cache: Path) -> Path:
    """Build the wheel from a copy of what is packaged, so that nothing is left in the checkout."""
    shutil.rmtree(cache / "wheel", ignore_errors=True)
    _pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(cache / "wheel"), str(ROOT))
    (wheel,) = (cache / "wheel").glob("*.whl")
    return wheel


def _install(wheel: Path, place: Path) -> None:
    """Install with dependencies into a new environment; into an earlier one, which has them, the wheel alone."""
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        _pip(python, "install", str(wheel))
    else:
        _pip(python, "install", "--no-deps", "--force-reinstall", str(wheel))
    _pip(python, "check")


def _pip(python: str | Path, *words: str) -> None:
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"pip {words[0]}: {done.stdout}{done.stderr}"


def _dependencies() -> bytes:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return repr((project["dependencies"], project["requires-python"])).encode()


def _content() -> str:
    """Name everything that goes into the wheel."""
    inside = [p for p in (ROOT / "src").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    digests = [f"{p.relative_to(ROOT)} {_digest(p.read_bytes())}" for p in [*inside, *(ROOT / n for n in PACKAGED)]]
    return _digest("\n".join(sorted(digests)).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
