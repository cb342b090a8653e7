"""Every anonymizer of the catalog keeps every promise of the contract."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

import personare.codecs.usc
from anonymizers.contract import CLAUSES
from personare.anonymizers import ANONYMIZERS, BUILTIN, anonymizer
from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.core.errors import ConfigError
from personare.core.fingerprint import models_of
from personare.core.protocols import Anonymizer
from personare.pipeline.system import System, rehearse
from tiny_codec import write_tiny_codec

TINY, OTHER_TINY = "<tiny>", "<another tiny>"  # stand for folders of codecs with random weights
SETTINGS: dict[str, list[dict[str, object]]] = {
    "mcadams": [{}, {"alpha": 0.8}, {"alpha": (0.5, 0.9)}, {"radius": 0.975}],
    "chain": [
        {"steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]},
        {"steps": [{"name": "cascade", "parameters": {"language": "en"}}, {"name": "mcadams"}]},
    ],
    "cascade": [
        {},
        {"voice": "kokoro", "language": "en", "recognizer": "moonshine"},
        {"voice": "piper", "language": "en", "recognizer": "moonshine", "prosody": "coarse"},
    ],
    "expressive": [{"language": "en"}],
    "usc": [{"weights": TINY}, {}],
    "xvector": [{}, {"generator": "o1", "pitch": "move", "f0": "predicted", "energy": "predicted", "timing": "even"}],
    "codec": [{"weights": TINY}, {"weights": TINY, "levels": 1, "parameters": {"voice": "a"}}, {}],
}
CASES = [(name, setting) for name in BUILTIN for setting in SETTINGS.get(name, [{}])]
SLOW = {"ten_minutes_survive"}
SHIPPED_CODEC = Path(personare.codecs.usc.__file__).parent / "shipped"


@pytest.fixture
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Anonymizer]:
    """Build a method; one that uses the codec gets one with random weights, or is skipped where none is shipped."""

    def build(name: str, **setting: object) -> Anonymizer:
        if name in ("usc", "codec") and "weights" not in setting and not SHIPPED_CODEC.is_dir():
            pytest.skip("the codec's weights are not shipped in this copy")
        if setting.get("weights") == TINY:
            setting["weights"] = str(request.getfixturevalue("tiny_codec"))
        if setting.get("weights") == OTHER_TINY:
            setting["weights"] = str(write_tiny_codec(tmp_path / "other", seed=1))
        return anonymizer(name, **setting)

    return build


@pytest.mark.parametrize("clause", [c for c in CLAUSES if c not in SLOW])
@pytest.mark.parametrize(("name", "setting"), CASES, ids=str)
def test_contract(name: str, setting: dict[str, object], clause: str, built: Callable[..., Anonymizer]) -> None:
    CLAUSES[clause](built(name, **setting))


def test_mcadams_at_length() -> None:
    CLAUSES["ten_minutes_survive"](anonymizer("mcadams"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in BUILTIN if n != "mcadams"])
def test_contract_at_length(name: str, built: Callable[..., Anonymizer]) -> None:
    CLAUSES["ten_minutes_survive"](built(name, **SETTINGS.get(name, [{}])[0]))


# for every parameter of every method, what it can be besides its default
OTHER: dict[str, dict[str, object]] = {
    "mcadams": {
        "alpha": 0.7,
        "radius": 0.9,
        "order": 12,
        "window_ms": 30.0,
        "pivot_hz": 1000.0,
        "match_level": False,
    },
    "formants": {
        "targets": "targets.tsv",
        "gender": "f",
        "max_shift": 1.2,
        "speaking_rate": 1.0,
        "f0_spread": 1.0,
        "exchange": False,
        "noise_db": None,
        "drift": 0.0,
    },
    "world": {
        "warp": 1.1,
        "either_way": False,
        "f0_hz": 120.0,
        "f0_spread": 1.0,
        "aperiodicity": 1.0,
        "drift": 0.0,
    },
    "xvector": {
        "generator": "o1",
        "parameters": {"farthest": 150},
        "gender": "cross",
        "own": "source",
        "pitch": "move",
        "f0": "flat",
        "blend": 0.7,
        "energy": "predicted",
        "timing": "even",
        "retime": 0.2,
        "content": None,  # there is one encoder
        "mask": True,
        "treble": False,
        "pool": "pool.npz",
        "weights": "trained",
    },
    "cascade": {
        "voice": "kokoro",
        "language": "en",
        "recognizer": "moonshine",
        "unsure": "tone",
        "sure_from": 0.5,
        "redact": ["numbers"],
        "timing": "phrases",
        "pauses": "keep",
        "rate": "fit",
        "prosody": "coarse",
        "gender": "any",
        "refuse_below": 0.3,
        "generator": "b1",
        "parameters": {"components": 10},
        "pool": "pool.npz",
        "f0": "flat",
        "treble": False,
        "weights": "trained",
    },
    "usc": {"voice": "a", "weights": OTHER_TINY},
    "codec": {"codec": None, "levels": 2, "weights": OTHER_TINY, "parameters": {"voice": "a"}},  # others need files
    "chain": {"steps": [{"name": "world"}]},
}
OTHER["expressive"] = {**OTHER["cascade"], "prosody": None, "keep": "label", "final": True}
NEEDED: dict[str, dict[str, object]] = {
    "chain": {"steps": [{"name": "mcadams"}]},
    "usc": {"weights": TINY},
    "codec": {"weights": TINY},
}


@pytest.mark.parametrize("name", BUILTIN)
def test_the_fingerprint_changes_with_every_parameter(name: str, built: Callable[..., Anonymizer]) -> None:
    parameters = [f.name for f in dataclasses.fields(ANONYMIZERS.load(name)) if f.init]
    assert sorted(OTHER[name]) == sorted(parameters), "a new parameter needs another value here"
    needed = NEEDED.get(name, {})
    changed = {p: built(name, **{**needed, p: v}) for p, v in OTHER[name].items() if v is not None or p == "noise_db"}
    fingerprints = {"default": built(name, **needed).fingerprint} | {p: m.fingerprint for p, m in changed.items()}
    assert len(set(fingerprints.values())) == len(fingerprints), fingerprints


@pytest.mark.parametrize("name", BUILTIN)
def test_what_is_typed_at_its_default_is_the_same_system(name: str, built: Callable[..., Anonymizer]) -> None:
    needed = NEEDED.get(name, {})
    defaults = {
        f.name: list(f.default) if isinstance(f.default, tuple) else f.default
        for f in dataclasses.fields(ANONYMIZERS.load(name))
        if f.init and f.default is not dataclasses.MISSING and f.name not in needed
    }
    for order in (list, reversed):
        typed = dict(order(list(defaults.items())))
        assert built(name, **needed, **typed).fingerprint == built(name, **needed).fingerprint


def test_the_steps_of_a_chain_count_as_built_and_in_order() -> None:
    steps: list[dict[str, object]] = [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": [0.8, 0.9]}}]
    one, other = anonymizer("chain", steps=steps), anonymizer("chain", steps=[{"name": "world"}, {"name": "mcadams"}])
    assert one == other
    assert one.fingerprint == other.fingerprint
    assert anonymizer("chain", steps=steps[::-1]).fingerprint != one.fingerprint
    assert anonymizer("chain", steps=[*steps, steps[0]]).fingerprint != one.fingerprint


def test_the_neural_voice_is_known_by_every_model_it_uses() -> None:
    models = models_of(anonymizer("chain", steps=[{"name": "cascade"}]))
    assert models == models_of(anonymizer("cascade"))
    own = {"shipped", "ge2e", "kokoro", "kokoro-languages"}
    assert {name.partition("/")[0] for name in models} == own | set(Cascade.MODELS)
    assert {"shipped/voice.onnx", "shipped/voices.npz", "shipped/mask.onnx", "shipped/reader_text.onnx"} <= set(models)
    assert models_of(anonymizer("mcadams")) == {}


def test_a_fitted_generator_of_ones_own_counts_by_content(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        (tmp_path / name).write_bytes(b"the same")
    one, other = (anonymizer("xvector", generator=str(tmp_path / name)) for name in ("a.npz", "b.npz"))
    assert one.fingerprint == other.fingerprint
    (tmp_path / "b.npz").write_bytes(b"another one")
    assert one.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("name", "old", "new"), [("world", "breath", "aperiodicity"), ("formants", "rate", "speaking_rate")]
)
def test_a_renamed_parameter_is_refused_with_its_new_name(name: str, old: str, new: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: the parameter '{old}' is called '{new}' now"):
        anonymizer(name, **{old: 1.0})


def test_every_name_is_listed() -> None:
    assert set(BUILTIN) <= set(ANONYMIZERS.names())


@pytest.mark.parametrize("name", ["formants", "mcadams", "world", pytest.param("xvector", marks=pytest.mark.models)])
def test_no_default_applies_one_change_to_everybody(name: str) -> None:
    assert rehearse(System(name)), "one fixed change is repeated by whoever attacks"
