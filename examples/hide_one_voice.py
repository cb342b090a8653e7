"""Hide one voice from Python: read a file, mask it with a keyed random voice, write the result.

python examples/hide_one_voice.py speech.wav masked.flac
"""

import sys
from pathlib import Path

from personare.anonymizers import anonymizer
from personare.core.audio import read_channels, write
from personare.core.seeding import Key, rng_for


def main(source: Path, target: Path) -> None:
    """Mask every channel of ``source`` with one voice that nobody can draw again without the key."""
    key = Key.new()
    hide = anonymizer("mcadams", alpha=(0.5, 0.9))
    write(target, [hide(channel, rng=rng_for(key, "voice", source.name)) for channel in read_channels(source)])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python hide_one_voice.py IN OUT.flac")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
