"""Without torch, the user reads one line that says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from personare.core.errors import MissingExtraError
from personare.training.torch_extra import torch_for

SRC = Path(__file__).resolve().parents[2] / "src"


def test_missing_torch_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"a test needs the extra 'neural'; install it with: pip install"):
        torch_for("a test")


def test_nothing_imports_torch_before_it_is_needed() -> None:
    """Only networks written as torch modules import it, and no other module of the package imports them."""
    code = """
import importlib, pkgutil, sys
import personare
NETWORKS = ("personare.training.usc.", "personare.codecs.published.")
for module in pkgutil.walk_packages(personare.__path__, "personare."):
    if not module.name.startswith(NETWORKS) and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
sys.exit("torch" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(SRC)}, check=False).returncode == 0
