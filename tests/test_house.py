"""The house rules that a machine can check: first lines, file length, no paths of a machine, no registry's name."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN_NAMES = {"utils", "helpers", "manager", "base", "data", "info", "misc", "common"}


def tracked() -> list[Path]:
    """Every file the project ships, from git, or from the folders when it is no checkout."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False)
    names = done.stdout.splitlines()
    if done.returncode or not names:
        folders = ("src", "tests", "benchmarks", "docs", "examples", "recipes", "trainings")
        names = [str(p.relative_to(ROOT)) for f in folders for p in (ROOT / f).rglob("*") if p.is_file()]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


PYTHON = [p for p in tracked() if p.suffix == ".py" and p.is_relative_to(ROOT / "src")]


def test_each_file_says_what_it_is_for_and_is_short() -> None:
    """One id for all files: every fault is listed."""
    faults = []
    for path in PYTHON:
        text = path.read_text(encoding="utf-8")
        first = (ast.get_docstring(ast.parse(text)) or "").splitlines()
        name = path.relative_to(ROOT).as_posix()
        if not first or len(first[0]) <= 20:
            faults.append(f"{name}: the first line tells a lawyer or a linguist what the file is for")
        if text.count("\n") > 800:
            faults.append(f"{name}: one idea per file; above 800 lines it is more than one")
        if path.stem in FORBIDDEN_NAMES:
            faults.append(f"{name}: '{path.stem}' says nothing about what is in it")
    assert len(PYTHON) > 100 and not faults, "\n".join(faults)


def test_nothing_names_a_machine_or_a_registry() -> None:
    machine = re.compile(rb"/(?:work|root|farm|home)/[a-z]|/tmp/[a-z]")
    registry = re.compile(rb"pypi\.org|pythonhosted\.org|npmjs\.|registry\.npm")
    for path in tracked():
        if path == Path(__file__).resolve():
            continue
        content = path.read_bytes()
        if b"\0" not in content[:8000]:
            assert not machine.search(content), f"{path.relative_to(ROOT)} names a path of a machine"
            assert not registry.search(content), f"{path.relative_to(ROOT)} names a registry"


def test_no_class_name_stands_twice() -> None:
    places: dict[str, list[str]] = {}
    for path in PYTHON:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    twice = {name: files for name, files in places.items() if len(files) > 1}
    assert not twice, "one word per idea and one idea per word"
