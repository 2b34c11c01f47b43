"""The unit of systemd that goes on with a campaign after each boot."""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runoff.engines import tools
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.files import create_whole, sync_directory, write_whole
from runoff.reading import decode, read_own

NAME = "runoff-campaign.service"
PLACE = Path("/etc/systemd/system")
RUNNING = Path("/run/systemd/system")
_LINK = Path("multi-user.target.wants", NAME)
"""What ``systemctl enable`` makes of ``WantedBy``."""
_DIRECTORY = "X-Runoff-Directory="
_PASSED_ON = ("PATH", "PYTHONPATH", "RUNOFF_AGENT", "RUNOFF_CACHE")


@dataclass(frozen=True, slots=True)
class InstalledUnit:
    """The unit that is there."""

    directory: Path | None
    """The directory of its campaign; None if the unit does not say so in the way of this version of runoff."""

    def __str__(self) -> str:
        return f"in {self.directory}" if self.directory is not None else f"of which {PLACE / NAME} does not tell where"


def require_systemd() -> None:
    """Raise MissingError unless systemd runs this machine."""
    if not RUNNING.is_dir():
        raise MissingError("--reboot needs systemd, which goes on after each boot: boot each kernel by hand instead")


def refuse_other(directory: Path) -> InstalledUnit | None:
    """Return the unit if it is of the campaign in ``directory``. Raises UsageError if it is of another one."""
    found = find_installed()
    if found is not None and found.directory != directory:
        raise UsageError(
            f"another campaign goes on after each boot, {found}: wait for it, or end it", hint=("restore",)
        )
    return found


def install(directory: Path, arguments: Sequence[str], stop_limit_s: float) -> None:
    """Let systemd call ``runoff resume`` for ``directory`` after each boot, and wait so long for it to stop.

    Raises UsageError if another campaign does so already, and MissingError.
    """
    command = [sys.executable, "-m", "runoff", "resume", str(directory), *arguments]
    content = render(directory, command, os.environ, stop_limit_s).encode()
    write = create_whole if refuse_other(directory) is None else write_whole
    try:
        write(PLACE / NAME, content)
    except FileExistsError:
        # Another campaign has written its own since. If that is gone again, this one may have its place.
        return install(directory, arguments, stop_limit_s)
    except OSError as error:
        raise MissingError(f"cannot write {PLACE / NAME}: {error.strerror}") from None
    _systemctl("daemon-reload")
    _systemctl("enable", NAME)


def render(directory: Path, command: Sequence[str], environment: Mapping[str, str], stop_limit_s: float) -> str:
    """Return the text of the unit. Raises UsageError for what cannot be written in one line."""
    for text in (str(directory), str(Path.cwd()), *command, *(environment.get(name, "") for name in _PASSED_ON)):
        if any(not letter.isprintable() for letter in text):
            raise UsageError(f"--reboot: {text!r} has a character that a unit of systemd cannot: choose another name")
    passed = [f"{name}={environment[name]}" for name in _PASSED_ON if environment.get(name)]
    lines = [
        "[Unit]",
        f"Description=runoff goes on with the campaign in {_escape(str(directory))}",
        f"{_DIRECTORY}{_escape(str(directory))}",
        # The campaign may be on a disk of its own, which is mounted before the unit and unmounted after it.
        f"RequiresMountsFor={_quote(str(directory))}",
        f"ConditionPathExists={_escape(str(directory))}",
        "",
        "[Service]",
        # Not before the machine has booted and is quiet.
        "Type=idle",
        # What stops it is for runoff alone, which lets the running sample finish: the agent and the work are not told.
        "KillMode=mixed",
        f"TimeoutStopSec={math.ceil(stop_limit_s)}",
        f"WorkingDirectory={_escape(str(Path.cwd()))}",
        *(f"Environment={_quote(each)}" for each in passed),
        f"ExecStart={' '.join(_quote(word).replace('$', '$$') for word in command)}",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return "\n".join(lines) + "\n"


def find_installed() -> InstalledUnit | None:
    """Return the unit that goes on after each boot, as any version of runoff has written it; None if none does."""
    try:
        text = decode(read_own(PLACE / NAME))
    except FileNotFoundError:
        return InstalledUnit(None) if os.path.lexists(PLACE / _LINK) else None
    except (OSError, ValueError):
        return InstalledUnit(None)
    for line in text.splitlines():
        if line.startswith(_DIRECTORY):
            return InstalledUnit(Path(line.removeprefix(_DIRECTORY).replace("%%", "%")))
    return InstalledUnit(None)


def remove() -> None:
    """Remove the unit, also where systemd does not run. Raises RunoffError."""
    try:
        for path in (PLACE / _LINK, PLACE / NAME):
            path.unlink(missing_ok=True)
        sync_directory(PLACE)
    except OSError as error:
        raise RunoffError(f"cannot remove {PLACE / NAME}: {error.strerror}") from None
    if RUNNING.is_dir():
        _systemctl("daemon-reload")


def stop() -> None:
    """Let the campaign end after its running sample if systemd has started it; do not wait for that."""
    # A unit of which only the link is left is not loaded.
    if RUNNING.is_dir() and (PLACE / NAME).exists():
        _systemctl("stop", "--no-block", NAME)


def restart_machine() -> None:
    """Boot, as soon as this process has ended. Raises RunoffError if that is refused."""
    _systemctl("reboot")


def is_shutting_down() -> bool:
    """Return whether the machine is being shut down, so that what is stopped now is to go on after the boot."""
    if not RUNNING.is_dir():
        return False
    state = tools.run(["sh", "-c", "systemctl is-system-running || true"], what="systemctl is-system-running")
    return state.strip() == "stopping"


def _systemctl(*words: str) -> None:
    tools.run([tools.require("systemctl", "systemd"), *words], what=f"systemctl {words[0]}")


def _escape(text: str) -> str:
    """Return ``text`` without specifiers of systemd (systemd.unit(5))."""
    return text.replace("%", "%%")


def _quote(word: str) -> str:
    """Return one word as systemd reads it (systemd.syntax(7), Quoting)."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_escape(escaped)}"'
