"""The logs of requests in a campaign's directory: one file a sample, ``requests/SAMPLE.tsv.gz``."""

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

from runoff.campaign.records import Row
from runoff.errors import MissingError
from runoff.files import make_folder, write_whole
from runoff.results import StoredLog

FOLDER = "requests"


def store_log(directory: Path, sample: str, text: str) -> str:
    """Write the log of ``sample`` durably, and return its SHA-256; it counts when the journal has the sample.

    Raises MissingError.
    """
    path = _path(directory, sample)
    # No time of day in it: same log, same bytes.
    content = gzip.compress(text.encode(), mtime=0)
    try:
        make_folder(path.parent)
        write_whole(path, content)
    except OSError as error:
        raise MissingError(
            f"cannot write {path}: {error.strerror}; make room or the directory writable, "
            f"then: runoff resume {directory}"
        ) from None
    return hashlib.sha256(content).hexdigest()


def find_logs(directory: Path, rows: Iterable[Row]) -> dict[str, StoredLog]:
    """Return the logs of those samples that have one, by sample; whoever has removed the files does without."""
    logs = {row.cell: StoredLog(_path(directory, row.cell), row.requests_sha256) for row in rows if row.requests_sha256}
    return {cell: log for cell, log in logs.items() if log.path.exists()}


def _path(directory: Path, sample: str) -> Path:
    return directory / FOLDER / f"{sample}.tsv.gz"
