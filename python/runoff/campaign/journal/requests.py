"""The logs of requests in a campaign's directory: one file a sample, ``requests/SAMPLE.tsv.gz``."""

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

from runoff.campaign.journal.records import Row
from runoff.errors import MissingError
from runoff.files import HeldDirectory
from runoff.results import StoredLog

FOLDER = "requests"


def store_log(directory: HeldDirectory, sample: str, text: str) -> str:
    """Write the log of ``sample`` durably, and return its SHA-256; it counts when the journal has the sample.

    Raises MissingError.
    """
    # No time of day in it: same log, same bytes.
    content = gzip.compress(text.encode(), mtime=0)
    try:
        directory.write_whole(_path(sample), content)
    except OSError as error:
        raise MissingError(
            f"cannot write {directory.path / _path(sample)}: {error.strerror}; make room or the directory writable, "
            "then go on with it",
            hint=("resume", directory.path),
        ) from None
    return hashlib.sha256(content).hexdigest()


def find_logs(directory: Path, rows: Iterable[Row]) -> dict[str, StoredLog]:
    """Return the logs of those samples that have one, by sample; a removed file is left out on reading."""
    logs = {
        row.cell: StoredLog(directory / _path(row.cell), row.requests_sha256) for row in rows if row.requests_sha256
    }
    return {cell: log for cell, log in logs.items() if log.path.exists()}


def _path(sample: str) -> Path:
    return Path(FOLDER, f"{sample}.tsv.gz")
