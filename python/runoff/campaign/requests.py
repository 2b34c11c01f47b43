"""The logs of requests in a campaign's directory: one file a sample, ``requests/SAMPLE.tsv.gz``."""

import gzip
import os
from collections.abc import Iterable
from pathlib import Path

from runoff.errors import MissingError

FOLDER = "requests"


def keep(directory: Path, sample: str, text: str) -> None:
    """Write the log of ``sample`` durably; it counts when the journal has the sample. Raises MissingError."""
    path = _path(directory, sample)
    try:
        path.parent.mkdir(exist_ok=True)
        half = path.with_suffix(".half")
        with half.open("wb") as file:
            # No time of day in it: same log, same bytes.
            file.write(gzip.compress(text.encode(), mtime=0))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        raise MissingError(
            f"cannot write {path}: {error.strerror}; make room or the directory writable, "
            f"then: runoff resume {directory}"
        ) from None


def kept(directory: Path, samples: Iterable[str]) -> dict[str, Path]:
    """The files of those ``samples`` that have one."""
    paths = {sample: _path(directory, sample) for sample in samples}
    return {sample: path for sample, path in paths.items() if path.is_file()}


def _path(directory: Path, sample: str) -> Path:
    return directory / FOLDER / f"{sample}.tsv.gz"
