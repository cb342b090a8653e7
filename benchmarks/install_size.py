"""How large is an installation? Megabytes of everything that `pip install personare` brings, without extras.

    python benchmarks/install_size.py [REQUIREMENT ...]

Builds the wheel, installs it into an empty environment by pip, and adds up the files each distribution has recorded
(compiled bytecode included). pip itself is not counted. Further requirements are installed beside it, such as
'polars<2'. Nothing is left behind.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = "personare"
LISTING = """
import json, re
from importlib import metadata
from pathlib import Path
plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
rows = []
for one in metadata.distributions():
    size = sum(f.stat().st_size for f in map(Path, (one.locate_file(f) for f in one.files or ())) if f.is_file())
    needs = [plain(re.match(r"[\\w.-]+", need)[0]) for need in one.requires or () if "extra ==" not in need]
    rows.append((plain(one.metadata["Name"]), one.version, size, needs))
print(json.dumps(rows))
"""


@dataclass(frozen=True)
class Distribution:
    """One installed distribution and what it asks for."""

    name: str
    version: str
    size: int
    needs: tuple[str, ...]


def run(*words: str | Path) -> str:
    """Run a command; its last line of complaint ends the benchmark."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)  # noqa: S603 - our words
    if done.returncode:
        sys.exit((done.stderr.strip().splitlines() or ["failed"])[-1])
    return done.stdout


def installed(folder: Path, beside: list[str]) -> dict[str, Distribution]:
    """Build the wheel, install it, and list every distribution."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "wheel", ROOT)
    (wheel,) = (folder / "wheel").glob("*.whl")
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, *beside)
    rows = json.loads(run(python, "-c", LISTING))
    return {name: Distribution(name, version, size, tuple(needs)) for name, version, size, needs in rows}


def reached(all_: dict[str, Distribution], *, without: str = "") -> set[str]:
    """Give everything that personare needs, or would still need if it did not ask for one of them itself."""
    found: set[str] = set()
    left = [OURS]
    while left:
        name = left.pop()
        if name in all_ and name not in found:
            found.add(name)
            left += [need for need in all_[name].needs if not (name == OURS and need == without)]
    return found


def main(beside: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        all_ = installed(Path(folder), beside)
    everything = reached(all_)
    print("| distribution | version | MB | with what comes for it alone, MB | what that is |\n|---|---|---:|---:|---|")
    rows = []
    for name in (OURS, *set(all_[OURS].needs)):
        alone = {name} if name == OURS else everything - reached(all_, without=name)
        others = sorted(alone - {name}, key=lambda other: -all_[other].size)
        rows.append((sum(all_[one].size for one in alone or {name}), all_[name], ", ".join(others)))
    for size, one, along in sorted(rows, key=lambda row: -row[0]):
        print(f"| {one.name} | {one.version} | {one.size / 1e6:.1f} | {size / 1e6:.1f} | {along} |")
    print(f"| all {len(everything)} | | {sum(all_[name].size for name in everything) / 1e6:.1f} | | |")


if __name__ == "__main__":
    main(sys.argv[1:])
