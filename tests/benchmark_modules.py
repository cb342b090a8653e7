"""The benchmarks as modules for the tests that use their parts: benchmarks/ is no package, and stays off the path."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@functools.cache
def benchmark(name: str) -> Any:
    """``benchmarks/NAME.py``, loaded once. On the path its metrics.py would hide the folder tests/metrics."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.append(str(BENCHMARKS))  # a benchmark may use the one beside it
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module
