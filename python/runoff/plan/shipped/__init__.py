"""Plans that come with runoff: those of the folder `plans` of its source."""

from pathlib import Path

from runoff.errors import UsageError
from runoff.text import suggest


def list_shipped() -> dict[str, Path]:
    """Return the files by the names of their plans."""
    return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}


def find_shipped(name: str) -> Path:
    """Return the file of a plan. Raises UsageError."""
    known = list_shipped()
    if name not in known:
        raise UsageError(f"no plan {name!r} comes with runoff{suggest(name, known)}")
    return known[name]


def describe_shipped(path: Path) -> str:
    """Return the sentence that a plan begins with."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        lines.append(line.removeprefix("# "))
    return " ".join(lines).partition(". ")[0].removesuffix(".")
