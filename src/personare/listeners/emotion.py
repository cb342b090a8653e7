"""Emotion and arousal in a voice, by two unrelated judges that ship; neither knows the voice it listens to.

``emotion``            Fisher's discriminant on the 41 numbers of ``paralinguistics`` (pitch, rhythm, loudness, colour)
``emotion-spectrum``   a linear support vector machine on 130 statistics of mel bands, without pitch and length

Each judge decides in two ways, and reports them apart (condition ``trained on``):

* ``EmoDB``: the shipped weights, trained on ten German actors. A speaker of EmoDB, known by the names of its files
  (03a01Fa), is judged by weights that were trained on the other nine.
* ``other speakers``: trained now on the **original** speech of the other speakers of the judged corpus, where the
  corpus notes emotions (column ``emotion``) of enough speakers. The parameter ``training`` names a larger corpus of the
  same kind; its speakers of the same name as a judged one are left out for that one.

So no judge has heard the speaker it judges. Anonymized speech is never trained on.

Findings: UAR of four emotions with the recall of each; UAR of arousal (high or low); concordance (CCC) of arousal and
valence between original and anonymized speech, beside the zero line: the CCC with another recording of the same words.
"""

from __future__ import annotations

import contextlib
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, read_mono
from personare.core.errors import AudioError, ConfigError, MetricError
from personare.core.findings import Finding
from personare.core.observations import (
    FROM_ORIGINAL,
    SIDES,
    Observation,
    ObservedUtterance,
    Side,
    Stimulus,
    SummaryContext,
    UtilitySummary,
)
from personare.core.protocols import Listener
from personare.core.requirements import Requirements
from personare.core.tables import Corpus
from personare.core.weights import file_sha256
from personare.listeners.cache import observe
from personare.listeners.discriminants import fit_lda, fit_svm
from personare.listeners.emotion_weights import shipped
from personare.listeners.means import no_estimate
from personare.listeners.mel_statistics import NAMES as MEL_NAMES
from personare.listeners.mel_statistics import MelStatistics
from personare.listeners.paralinguistics import NAMES as PLAIN_NAMES
from personare.listeners.paralinguistics import Paralinguistics
from personare.metrics import card
from personare.metrics.utility.concordance import ccc, ccc_estimate
from personare.metrics.utility.recall import class_recall_estimate, uar_chance, uar_estimate
from personare.metrics.utility.shape import same_words_pairs

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from personare.listeners.discriminants import Fit

    Floats = NDArray[np.float64]
    Decider = Callable[["Judged", Side], list[str]]

EMOTIONS = ("anger", "happiness", "neutral", "sadness")
SAME_AS = {"calm": "neutral", "angry": "anger", "happy": "happiness", "sad": "sadness", "joy": "happiness"}
AROUSAL = {
    **dict.fromkeys(("anger", "happiness", "fear", "surprise"), "high"),
    **dict.fromkeys(("neutral", "sadness", "boredom"), "low"),
}
CLASS_OF: Mapping[str, Mapping[str, str]] = {"emotion": {name: name for name in EMOTIONS}, "arousal": AROUSAL}
SCALES = ("arousal", "valence")
SHIPPED, CORPUS = "EmoDB", "other speakers"
FEWEST_SPEAKERS = 4  # who have every class: fewer train no judge
FOLDS = 12
TEXT = "text"
_EMODB = re.compile(r"(?:^|[^0-9])(03|08|09|10|11|12|13|14|15|16)[ab][0-9]{2}[a-z][a-z]?$", re.IGNORECASE)
_NO_PAIRS = "no two utterances share their words, so concordance has no zero line; compare with a words-only method"


class EmotionJudge(Listener):
    """A listener for emotion: each sound becomes named numbers, judged when all utterances are there."""

    gives: ClassVar[tuple[str, ...]] = ("uar", "recall", "ccc")
    JUDGE: ClassVar[str]
    INPUTS: ClassVar[tuple[str, ...]]

    labels: str
    training: Path | None

    @abstractmethod
    def numbers(self, batch: Sequence[Audio]) -> list[Floats]:
        """Measure the numbers of each Audio: [inputs]."""

    @staticmethod
    @abstractmethod
    def fitting() -> Fit:
        """How this judge is fitted."""

    @property
    def summary_fingerprint(self) -> str:
        """The exact shipped weights and the column of labels."""
        pool = "" if self.training is None else file_sha256(self.training)[:16]
        return f"{self.JUDGE}:{shipped().digest}:{self.labels}:{pool}:1"

    @property
    def columns(self) -> tuple[str, ...]:
        """The true emotion, and the words for the zero line."""
        return (self.labels, TEXT)

    def check(self) -> None:
        """Find out now whether the training corpus is there and has labels."""
        self.requires.check()
        if self.training is not None:
            self._training_frame()

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Measure the numbers of each stimulus; they are judged in ``summarize``."""
        rows = self.numbers([stimulus.audio for stimulus in batch])
        return [Observation(values=dict(zip(self.INPUTS, row.tolist(), strict=True))) for row in rows]

    def __call__(self, batch: Sequence[Audio]) -> list[dict[str, str]]:
        """Judge each Audio by the shipped weights: ``emotion`` and ``arousal``."""
        rows = np.stack(self.numbers(batch))
        found = {task: shipped().decide(self.JUDGE, task, rows) for task in ("emotion", "arousal")}
        return [dict(zip(found, both, strict=True)) for both in zip(*found.values(), strict=True)]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Judge all utterances, and compare with what was noted or with the originals."""
        judged = Judged.of([row for row in rows if all(side in row.sides for side in SIDES)], self.INPUTS, context)
        noted = context.noted.get(self.labels, {})
        emotions = [plain_emotion(noted.get(utterance, "")) for utterance in judged.utterances]
        truths = {task: [CLASS_OF[task].get(name, "") for name in emotions] for task in CLASS_OF}
        findings: list[Finding] = []
        pool = self._pool(judged, emotions) if noted else None
        notes = list(_notes(judged, emotions if noted else []))
        for task, truth in truths.items():
            if noted:
                findings += self._recalls(judged, task, truth, context, shipped_decider(self.JUDGE, task), SHIPPED)
                trained = None if pool is None else folded_decider(judged, pool.of_task(task), self.fitting())
                if trained is None:
                    notes.append(_too_few(task))
                else:
                    findings += self._recalls(judged, task, truth, context, trained, CORPUS)
            else:
                heard = shipped_decider(self.JUDGE, task)(judged, "original") if judged.utterances else []
                findings += self._recalls(
                    judged, task, heard, context, shipped_decider(self.JUDGE, task), SHIPPED, reference=FROM_ORIGINAL
                )
        agreement, more = self._concordances(judged, context)
        return UtilitySummary((*findings, *agreement), (*notes, *more))

    def _pool(self, judged: Judged, emotions: Sequence[str]) -> TrainingPool:
        """Gather the original speech that judges are trained on."""
        if self.training is None:
            return TrainingPool(judged.rows["original"], judged.speakers, tuple(emotions))
        rows, speakers, named = [], [], []
        for utterance in self._training_frame().iter_rows(named=True):
            sound = read_mono(
                Path(utterance["audio"]), start_s=utterance.get("start_s") or 0.0, stop_s=utterance.get("end_s")
            )
            with contextlib.suppress(AudioError):  # silent or unvoiced: nothing to train on
                (seen,) = observe(self, [Stimulus(sound)], remember=True)
                rows.append([seen.values[name] for name in self.INPUTS])
                speakers.append(str(utterance["speaker"]))
                named.append(plain_emotion(utterance[self.labels] or ""))
        return TrainingPool(np.array(rows).reshape(len(rows), len(self.INPUTS)), tuple(speakers), tuple(named))

    def _training_frame(self) -> pl.DataFrame:
        frame = Corpus.load(Path(self.training or "")).frame
        if self.labels not in frame.columns:
            raise ConfigError(f"{self.training}: has no column '{self.labels}' to train on; name one with labels")
        return frame.sort("utterance")

    def _recalls(
        self,
        judged: Judged,
        task: str,
        truth: Sequence[str],
        context: SummaryContext,
        decide: Decider,
        trained_on: str,
        *,
        reference: str = "noted",
    ) -> Iterator[Finding]:
        kept = [place for place, name in enumerate(truth) if name]
        true, speakers = [truth[i] for i in kept], [judged.speakers[i] for i in kept]
        classes = sorted(set(true))
        for side in SIDES if reference != FROM_ORIGINAL else SIDES[1:]:
            about: dict[str, str | int | float] = {
                "speech": side,
                "of": task,
                "trained on": trained_on,
                "reference": reference,
                "classes": len(classes),
            }
            failed = context.total - len(judged.utterances)
            if not kept:
                for name in ("uar", "recall"):
                    yield Finding(card(name), no_estimate(), about, failed=context.total)
                continue
            found = decide(judged, side)
            heard = [found[i] for i in kept]
            chance = uar_chance(true)
            estimate = uar_estimate(true, heard, speakers=speakers)
            yield Finding(card("uar"), estimate, about, failed=failed, chance=chance)
            for name in classes:
                each = class_recall_estimate(true, heard, of=name, speakers=speakers)
                yield Finding(card("recall"), each, {**about, "class": name}, failed=failed, chance=chance)

    def _concordances(self, judged: Judged, context: SummaryContext) -> tuple[list[Finding], list[str]]:
        findings, notes = [], []
        texts = context.noted.get(TEXT, {})
        one, other = same_words_pairs([texts.get(u, "") for u in judged.utterances], judged.speakers)
        if judged.utterances and not len(one):
            notes.append(_NO_PAIRS)
        for place, name in enumerate(SCALES):
            about = {"of": name, "trained on": SHIPPED, "reference": FROM_ORIGINAL}
            estimate, zero, failed = no_estimate(), None, context.total
            try:
                before, after = (self._scales(judged, side)[:, place] for side in SIDES)
                estimate = ccc_estimate(before, after, speakers=judged.speakers)
                zero = ccc(before[one], after[other]) if len(one) > 1 else None
                failed -= len(judged.utterances)
            except MetricError as error:  # one utterance, or the same value each time
                notes.append(f"{name}: {error}")
            findings.append(Finding(card("ccc"), estimate, about, failed=failed, chance=zero))
        return findings, notes

    def _scales(self, judged: Judged, side: Side) -> Floats:
        rows = judged.rows[side]
        values: Floats = np.zeros((len(rows), len(SCALES)))
        for fold, places in judged.folds.items():
            values[places] = shipped().scores(self.JUDGE, "scales", rows[places], fold=fold)
        return values


@dataclass(frozen=True, eq=False)
class Judged:
    """All observed utterances: their numbers by side [utterances, inputs], and which shipped fold judges them."""

    utterances: tuple[str, ...]
    speakers: tuple[str, ...]
    rows: Mapping[Side, Floats]
    folds: Mapping[str, NDArray[np.intp]]

    @classmethod
    def of(cls, rows: Sequence[ObservedUtterance], inputs: Sequence[str], context: SummaryContext) -> Judged:
        """Stack the observations; speakers of EmoDB are known by the names of their files."""
        utterances = tuple(row.utterance for row in rows)
        shape = (len(rows), len(inputs))
        numbers = {
            side: np.array([[row.sides[side].values[name] for name in inputs] for row in rows]).reshape(shape)
            for side in SIDES
        }
        fold = np.array([emodb_speaker(utterance) for utterance in utterances], dtype=str)
        folds = {str(name): np.flatnonzero(fold == name) for name in np.unique(fold)}
        return cls(utterances, tuple(context.speakers[u] for u in utterances), numbers, folds)


def emodb_speaker(utterance: str) -> str:
    """Give the number of the EmoDB speaker that a file name tells, else nothing.

    >>> emodb_speaker("emodb-03-03a01fa"), emodb_speaker("16b10Wb"), emodb_speaker("speech-1")
    ('03', '16', '')
    """
    found = _EMODB.search(utterance)
    return found.group(1) if found else ""


def shipped_decider(judge: str, task: str) -> Decider:
    """Decide by the shipped weights, for each speaker of EmoDB by those of the other speakers."""

    def decide(judged: Judged, side: Side) -> list[str]:
        decisions = [""] * len(judged.utterances)
        for fold, places in judged.folds.items():
            heard = shipped().decide(judge, task, judged.rows[side][places], fold=fold)
            for place, name in zip(places.tolist(), heard, strict=True):
                decisions[place] = name
        return decisions

    return decide


@dataclass(frozen=True, eq=False)
class TrainingPool:
    """Original speech to train on: numbers [utterances, inputs], speaker and class of each; no class: not used."""

    rows: Floats
    speakers: tuple[str, ...]
    classes: tuple[str, ...]

    def of_task(self, task: str) -> TrainingPool:
        """Name the classes as a task does."""
        return replace(self, classes=tuple(CLASS_OF[task].get(name, "") for name in self.classes))


def folded_decider(judged: Judged, pool: TrainingPool, fit: Fit) -> Decider | None:
    """Train on the originals of other speakers, fold by fold; None where too few speakers have every class."""
    labelled = np.array([bool(name) for name in pool.classes])
    classes, by_speaker = set(pool.classes) - {""}, {who: set[str]() for who in pool.speakers}
    for who, name in zip(pool.speakers, pool.classes, strict=True):
        by_speaker[who].add(name)
    whole = [who for who, names in by_speaker.items() if classes <= names]
    if len(whole) < FEWEST_SPEAKERS or len(classes) < 2:
        return None
    number = {who: place % FOLDS for place, who in enumerate(sorted(set(judged.speakers)))}
    judged_in = np.array([number[who] for who in judged.speakers])
    pooled_in = np.array([number.get(who, -1) for who in pool.speakers])
    models = {}
    for fold in sorted(set(number.values())):
        rest = labelled & (pooled_in != fold)
        models[fold] = fit(pool.rows[rest], [pool.classes[i] for i in np.flatnonzero(rest)])

    def decide(judged: Judged, side: Side) -> list[str]:
        heard = np.empty(len(judged.utterances), dtype=object)
        for fold, model in models.items():
            heard[judged_in == fold] = model(judged.rows[side][judged_in == fold])
        return [str(name) for name in heard]

    return decide


def plain_emotion(name: str) -> str:
    """Give the name under which an emotion is judged.

    >>> plain_emotion("Calm"), plain_emotion("anger")
    ('neutral', 'anger')
    """
    return SAME_AS.get(name.casefold(), name.casefold())


def _too_few(task: str) -> str:
    return f"{task}: no judge was trained on this corpus, which needs {FEWEST_SPEAKERS} speakers with every class"


def _notes(judged: Judged, emotions: Sequence[str]) -> Iterator[str]:
    own = sum(len(places) for fold, places in judged.folds.items() if fold)
    if own:
        yield f"{own} utterances of EmoDB are judged by weights that were trained without their speaker"
    others = sorted({name for name in emotions if name and name not in EMOTIONS})
    if others:
        count = sum(name in others for name in emotions)
        yield f"{count} utterances of other emotions ({', '.join(others)}) are not in the UAR of emotions"


@dataclass(frozen=True)
class Emotion(EmotionJudge):
    """Judge emotion and arousal by pitch, rhythm, loudness and colour: Fisher's discriminant on 41 numbers.

    Parameters
    ----------
    labels : the column of the corpus that notes the true emotion.
    training : a manifest with that column, whose other speakers train the second judge; the judged corpus if None.
    """

    paper: ClassVar[str] = "Fisher, The use of multiple measurements in taxonomic problems, 1936"
    JUDGE: ClassVar[str] = "emotion"
    INPUTS: ClassVar[tuple[str, ...]] = PLAIN_NAMES
    requires = Requirements("the listener 'emotion'", {"pyworld": "pitch"})

    labels: str = "emotion"
    training: Path | None = None

    @property
    def fingerprint(self) -> str:
        """The numbers that are measured."""
        return f"emotion:{Paralinguistics.fingerprint}"

    def numbers(self, batch: Sequence[Audio]) -> list[Floats]:
        """See ``paralinguistics``."""
        return Paralinguistics()(batch)

    @staticmethod
    def fitting() -> Fit:
        """Fisher's discriminant."""
        return fit_lda


@dataclass(frozen=True)
class EmotionSpectrum(EmotionJudge):
    """Judge emotion and arousal by the colour of the voice alone: a linear SVM on 130 statistics of mel bands.

    Parameters
    ----------
    labels : the column of the corpus that notes the true emotion.
    training : a manifest with that column, whose other speakers train the second judge; the judged corpus if None.
    """

    paper: ClassVar[str] = "Cortes and Vapnik, Support-vector networks, 1995"
    JUDGE: ClassVar[str] = "emotion-spectrum"
    INPUTS: ClassVar[tuple[str, ...]] = MEL_NAMES

    labels: str = "emotion"
    training: Path | None = None

    @property
    def fingerprint(self) -> str:
        """The numbers that are measured."""
        return f"emotion-spectrum:{MelStatistics.fingerprint}"

    def numbers(self, batch: Sequence[Audio]) -> list[Floats]:
        """See ``mel_statistics``."""
        return MelStatistics()(batch)

    @staticmethod
    def fitting() -> Fit:
        """A linear support vector machine."""
        return fit_svm
