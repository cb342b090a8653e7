"""A listener as a study names it: its label, its settings, and the training that the study does for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.core.protocols import Listener
from personare.listeners import listener, listener_class, located, named
from personare.pipeline.study import ListenerChoice, Study

if TYPE_CHECKING:
    from personare.pipeline.stages.train import TrainJob
    from personare.pipeline.store import Store

UNTRAINED = "not-trained-yet"


@dataclass(frozen=True, eq=False)
class StudyListener:
    """One listener of a study under its label.

    Parameters
    ----------
    folder : where relative paths among its settings begin: the study file's folder.
    training : the stage that trains it, where the study does.
    """

    label: str
    choice: ListenerChoice
    folder: Path = Path()
    training: TrainJob | None = None

    @property
    def declared(self) -> type[Listener]:
        """The class, which says what it gives and needs."""
        return listener_class(named(self.choice.listener)[0])

    @property
    def trained_by_study(self) -> bool:
        """Whether it learns from the study's own train part: it can, and nobody says where a trained one lies."""
        name, given = named(self.choice.listener)
        declared = listener_class(name)
        return declared.trainable and declared.argument not in {**given, **self.choice.parameters}

    def made(self, store: Store | None = None) -> Listener:
        """Make it; ``store`` says where the study's own training lies, which need not be done yet."""
        name, parameters = located(self.choice.listener, self.choice.parameters, self.folder)
        if self.trained_by_study:
            trained = None if self.training is None or store is None else self.training.folder(store)
            parameters[str(self.declared.argument)] = str(trained or UNTRAINED)
        return listener(name, **parameters)

    @property
    def name(self) -> str:
        """The name numbers are seeded by: of the program, with the label where a file of the user's own is behind it.

        Where that file lies must not matter.
        """
        name, given = named(self.choice.listener)
        return f"{name}:{self.label}" if given or self.trained_by_study else name

    @property
    def fingerprint(self) -> str:
        """The exact model and settings; one that the study trains is named by its own stage."""
        return "trained by this study" if self.trained_by_study else self.made().fingerprint


def untrained_listeners(study: Study, folder: Path = Path()) -> Iterator[StudyListener]:
    """Give every listener of a study, before any training."""
    for label, choice in study.listener_choices.items():
        yield StudyListener(label, choice, folder)
