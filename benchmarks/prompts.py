"""Real Italian, French and Spanish sentences with their texts: recorded telephone prompts of Debian packages.

    python benchmarks/prompts.py FOLDER

Downloads asterisk-core-sounds-it, -fr and -es (G.722, 16 kHz, and the texts) by name and version, checks their digests,
unpacks them with dpkg-deb, and writes FOLDER/manifest.tsv with every sentence of at least six words. One speaker per
language: enough to count words, too few to attack. Licences: CC BY 3.0 (Italian), CC BY-SA 3.0 (French, Spanish).
Nothing of it belongs into the project. Needs Debian's apt-get and dpkg-deb, and the extra `media`.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import av
import numpy as np
import polars as pl
import soundfile as sf

VERSION = "1.6.1-1"
RATE_HZ = 16_000
LEAST_WORDS = 6
VOICES = {  # language -> SHA-256 of the package of recordings
    "it": "46b4cf7afc508a5fcfc051b7ea233251c0d195dd4ef83cc4b7facb4c6429b016",
    "fr": "7add61d5e42279ecff1bbdf842a5a946ac3644fac9a0fe44384731aa7270c8e0",
    "es": "e4e3b4281057d3b81b779298fd6be705f57411513955c518eed1bcaabbd615b8",
}
LINE = re.compile(r"^([\w/-]+): *(.+)$")
STAGE_DIRECTION = re.compile(r"[\[(<]")


def main(folder: Path) -> None:
    rows = []
    for language, digest in VOICES.items():
        with tempfile.TemporaryDirectory() as unpacked:
            unpack(Path(unpacked), language, digest)
            rows += sentences(Path(unpacked), folder, language)
    pl.DataFrame(rows).write_csv(folder / "manifest.tsv", separator="\t", quote_style="never")
    for language in VOICES:
        own = [row for row in rows if row["language"] == language]
        print(f"{language}: {len(own)} sentences, {sum(float(row['seconds']) for row in own) / 60:.1f} min")


def unpack(folder: Path, language: str, digest: str) -> None:
    """Download both packages of a language into a folder, check the recordings' digest, and unpack them there."""
    base = f"asterisk-core-sounds-{language}"
    for name in (f"{base}-g722", base):
        run("apt-get", "download", "-qq", f"{name}={VERSION}", folder=folder)
        (package,) = folder.glob(f"{name}_*.deb")
        if name.endswith("g722") and hashlib.sha256(package.read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{package.name}: not the recordings that the figures were measured on")
        run("dpkg-deb", "-x", str(package), str(folder), folder=folder)


def run(program: str, *arguments: str, folder: Path) -> None:
    """Run a program of Debian in a folder."""
    found = shutil.which(program)
    if found is None:
        raise SystemExit(f"{program} is not on this machine; this benchmark needs Debian's package tools")
    subprocess.run([found, *arguments], cwd=folder, check=True, stderr=subprocess.DEVNULL)  # noqa: S603


def sentences(unpacked: Path, folder: Path, language: str) -> list[dict[str, str]]:
    """Write the sentences of a language as FLAC and list them."""
    (texts,) = unpacked.glob(f"usr/share/doc/asterisk-core-sounds-{language}/*.txt.gz")
    rows = []
    for line in gzip.decompress(texts.read_bytes()).decode("utf-8-sig").splitlines():
        match = LINE.match(line.strip())
        if not match or STAGE_DIRECTION.search(match[2]) or len(match[2].split()) < LEAST_WORDS:
            continue
        recordings = list(unpacked.glob(f"usr/share/asterisk/sounds/*/{match[1]}.g722"))
        if len(recordings) != 1:
            continue
        samples = decoded(recordings[0])
        name = f"{language}-{match[1].replace('/', '-')}"
        (folder / language).mkdir(parents=True, exist_ok=True)
        sf.write(folder / language / f"{name}.flac", samples, RATE_HZ)
        rows.append(
            {
                "utterance": name,
                "speaker": f"prompts-{language}",
                "audio": f"{language}/{name}.flac",
                "seconds": f"{len(samples) / RATE_HZ:.2f}",
                "text": match[2].strip(),
                "corpus": f"prompts-{language}",
                "part": "eval",
                "language": language,
            }
        )
    return rows


def decoded(path: Path) -> np.ndarray:
    """Decode G.722 to 16 kHz samples."""
    with av.open(str(path), format="g722") as container:
        frames = [frame.to_ndarray().reshape(-1) for frame in container.decode(audio=0)]
    return (np.concatenate(frames) / 32_768).astype(np.float32)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("skipped: name a folder to write to")
    else:
        main(Path(sys.argv[1]))
