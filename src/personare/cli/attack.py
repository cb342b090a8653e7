"""personare attack: choose what the attacker knows, and see how many speakers they recognise, and whom most often."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from personare.cli import given, show

ENROLL_DRAWS = 5


def attack(
    original: Path = given.ORIGINAL,
    anonymized: Path = given.ANONYMIZED,
    knowledge: str | None = typer.Option(
        None,
        "--knowledge",
        "-k",
        metavar="NAME,NAME",
        help="original, ignorant, lazy-informed, semi-informed, informed, aligned, inverting; or vpc:NAME."
        "  [as evaluate]",
    ),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="Keep the run folder.  [none is kept]"),
    key: Path | None = given.KEY,
    method: str | None = given.METHOD,
    settings: list[str] | None = given.SETTINGS,
    train: Path | None = given.TRAIN,
    train_method: str | None = typer.Option(
        None, "--train-method", metavar="NAME", help="The similar system a semi-informed attacker has."
    ),
    embedder: str | None = given.ANY_EMBEDDER,
    quick: bool = given.QUICK,
    scorer: str | None = typer.Option(
        None,
        metavar="NAME",
        help="cosine; idf for words; wccn, plda, chosen, adapted for those who learn.  [cosine; plda if they learn]",
    ),
    as_norm: int = typer.Option(0, "--as-norm", min=0, metavar="N", help="Normalise scores by a cohort of N speakers."),
    enroll_draws: int = typer.Option(
        ENROLL_DRAWS, min=1, metavar="K", help="How often they anonymize each enrolled utterance; 1 as in VoicePrivacy."
    ),
    train_draws: int = typer.Option(
        1, min=1, metavar="K", help="How often they anonymize each utterance they learn from."
    ),
    folds: int = typer.Option(
        0, min=0, metavar="K", help="Informed: also learn from the attacked corpus itself, in K folds (3 or more)."
    ),
    no_pairs: bool = typer.Option(
        False, "--no-pairs", help="The aligned attacker does not know which training utterance became which."
    ),
    lengths: str = typer.Option("1,3", "--lengths", metavar="L,L", help="Utterances the attacker hears at once."),
    speaker_from: str | None = given.SPEAKER_FROM,
    language: str | None = given.LANGUAGE,
    seed: int = given.SEED,
    jobs: int = given.JOBS,
    guess_gender: bool = given.GUESS_GENDER,
    as_json: bool = show.JSON,
) -> None:
    """Attack an anonymized corpus with attackers of chosen knowledge.

    The same attacks as personare evaluate, chosen one by one, without a report. Prints EER (0 % is full recognition),
    linkability and the most exposed speakers. Attackers who learn (semi-informed, informed, aligned, inverting) need
    speech of other people, which they anonymize themselves, or an embedder that has learnt from anonymized speech
    (personare train embedder).

    Examples:

        personare attack recordings/ anonymous/ --jobs 2

        personare attack recordings/ anonymous/ -k informed --train others/
    """
    from personare import api
    from personare.attackers import scorer as scorer_named
    from personare.attackers.knowledge import Knowledge
    from personare.attackers.knowledge import knowledge as level_named
    from personare.cli.settings import parse_settings
    from personare.core.errors import ConfigError
    from personare.core.text import number_text
    from personare.pipeline.attack_sets import PLAIN
    from personare.pipeline.builtin import ATTACKERS
    from personare.pipeline.study import AttackerChoice

    alignment: Literal["pairs", "no pairs"] = "no pairs" if no_pairs else "pairs"
    learns = scorer is not None and scorer_named(scorer).learns

    def choice(level: Knowledge) -> AttackerChoice:
        semi = level is Knowledge.SEMI_INFORMED
        learns_from = {"method": train_method} if semi and train_method else None
        how = None if learns and not level.needs_training else scorer
        own = folds if level is Knowledge.INFORMED else 0
        return AttackerChoice(
            level.value,
            embedder or PLAIN,
            how,
            learns_from,
            enroll_draws,
            as_norm,
            alignment,
            train_draws if level.needs_training else 1,
            own,
        )

    asked = given.words(knowledge) if knowledge is not None else None
    named = any([asked, embedder, scorer, as_norm, folds, train_draws > 1, enroll_draws != ENROLL_DRAWS])
    levels = list(dict.fromkeys(level_named(word) for word in asked or ATTACKERS))
    if Knowledge.SEMI_INFORMED in levels and train_method is None:
        raise ConfigError("the semi-informed attacker has learnt from a similar system; name it with --train-method")
    result = given.watched(
        api.evaluate,
        original=original,
        anonymized=anonymized,
        attackers={level.value: choice(level) for level in levels} if named else None,
        only_possible=asked is None,
        quick=quick,
        out=out,
        key=key,
        method=method,
        parameters=parse_settings(settings),
        train=train,
        utterances_per_trial=given.parse_lengths(lengths),
        speaker_from=speaker_from,
        language=language,
        seed=seed,
        jobs=jobs,
        guess_gender=guess_gender,
    )
    exposed = result.exposed()
    rows = {who: [{"speaker": name, "share": share} for name, share in people] for who, people in exposed.items()}
    title = f"What attackers achieve, {embedder}" if embedder else "What attackers achieve"
    given.tell(result, title, as_json=as_json, most_exposed=rows)
    for who, speakers in () if as_json else exposed.items():
        listed = ", ".join(f"{speaker} {number_text(share, '%')}" for speaker, share in speakers if share > 0)
        show.text(f"most exposed to the {who} attacker: {listed or 'nobody was linked'}")
    if result.failures:
        raise typer.Exit(1)
