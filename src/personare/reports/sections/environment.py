"""What is needed to repeat a run: versions, seed, and the exact models by fingerprint and hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personare.reports.blocks import Facts, Notice, Paragraph, Section
from personare.reports.run import Run

TITLE = "To repeat it"
REPEAT = (
    "The study file lies in the run folder as study.yaml; personare study run gives the same findings from it. The "
    "keys of a study come from its seed: what it anonymizes itself is for measuring and not for release."
)
FAMILIES = {"methods": "method", "embedders": "embedder", "scorers": "scorer", "listeners": "listener"}


def environment_section(run: Run) -> Section:
    """Say with what the study ran."""
    env = run.environment
    if not env:
        return Section("environment", TITLE, [Notice("The run does not say with what it was made.")])
    entries = {"personare": str(env.get("personare", "?")), "Python": str(env.get("python", "?"))}
    entries |= {"platform": str(env.get("platform", "?")), "seed": str(env.get("seed", "?"))}
    entries |= {"libraries": ", ".join(f"{k} {v}" for k, v in env.get("libraries", {}).items()) or "-"}
    entries |= {f"model {name}": _model(model) for name, model in env.get("models", {}).items()}
    for family, title in FAMILIES.items():
        for name in env.get(family, {}):
            described = description_of(run, family, name)
            if described["fingerprint"]:
                entries[f"{title} {name}"] = described["fingerprint"]
    repeat = [Paragraph(REPEAT, soft=True)] if (run.folder / "study.yaml").is_file() else []
    return Section("environment", TITLE, [Facts(entries), *repeat])


def description_of(run: Run, family: str, name: str) -> Mapping[str, str]:
    """Give what the run says of a method, embedder, scorer or listener: description, paper, fingerprint, training."""
    family_entries = run.environment.get(family)
    entries = family_entries if isinstance(family_entries, Mapping) else {}
    entry = entries.get(name) or entries.get(name.partition(":")[0])  # a file of one's own is known by its kind
    known = entry if isinstance(entry, Mapping) else {}
    texts = {key: str(known.get(key) or "") for key in ("description", "paper", "fingerprint", "trained_on")}
    files = [f"{file} {str(sha)[:16]}…" for file, sha in (known.get("files") or {}).items()]
    return texts | {"fingerprint": ", ".join(part for part in (texts["fingerprint"], *files) if part)}


def parameters_of(run: Run, label: str) -> Mapping[str, Any]:
    """Give the parameters by which speech that was given had been anonymized, as far as the run knows them."""
    entry = (run.environment.get("methods") or {}).get(label) or {}
    known = entry.get("parameters") if isinstance(entry, Mapping) else None
    return known if isinstance(known, Mapping) else {}


def _model(model: Any) -> str:
    if not isinstance(model, Mapping):
        return str(model)
    hashes = model.get("sha256") or {}
    first = next(iter(hashes.items()), None)
    sha = f"; {first[0]} SHA-256 {first[1][:16]}…" if first else ""
    more = f" and {len(hashes) - 1} more files (environment.json)" if len(hashes) > 1 else ""
    return f"{model.get('carrier', '')}, {model.get('licence', '')}{sha}{more}"
