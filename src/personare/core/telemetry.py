"""Switch off the telemetry of the libraries we use, before any of them is imported; ``import personare`` does it.

onnxruntime decides at its own import whether it collects usage data: from then on it keeps a device id and an event
database in the user's cache folder and tries to send them. Nothing that is called later stops it. Processes that we
start inherit the variables; Ray gets them by its runtime environment.
"""

from __future__ import annotations

import os
import sys

from personare.core.errors import ConfigError

VARIABLES = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, which faster-whisper imports
    "DO_NOT_TRACK": "1",  # a convention that several libraries follow
}
_DISABLES = {"1", "true", "yes", "on"}  # the values that onnxruntime reads as such
_onnxruntime_came_first = False


def disable() -> None:
    """Set the variables; what the user has set otherwise is overruled."""
    global _onnxruntime_came_first
    is_off = os.environ.get("ORT_DISABLE_TELEMETRY", "").lower() in _DISABLES
    _onnxruntime_came_first = "onnxruntime" in sys.modules and not is_off
    os.environ.update(VARIABLES)


def check_disabled() -> None:
    """Refuse to use an onnxruntime that was imported with its telemetry on."""
    if _onnxruntime_came_first:
        raise ConfigError(
            "onnxruntime was imported before personare, with its telemetry on, which cannot be switched off any more; "
            "start Python again and import personare first, or set ORT_DISABLE_TELEMETRY=1"
        )
