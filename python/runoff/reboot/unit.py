"""The unit of systemd that goes on with a campaign after each boot."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from runoff.engines import tools
from runoff.errors import MissingError, UsageError
from runoff.files import write_whole

NAME = "runoff-campaign.service"
PLACE = Path("/etc/systemd/system")
RUNNING = Path("/run/systemd/system")
_DIRECTORY = "X-Runoff-Directory="
_PASSED_ON = ("PATH", "PYTHONPATH", "RUNOFF_AGENT", "RUNOFF_CACHE")


def require_systemd() -> None:
    """Raise MissingError unless systemd runs this machine."""
    if not RUNNING.is_dir():
        raise MissingError("--reboot needs systemd, which goes on after each boot: boot each kernel by hand instead")


def refuse_other(directory: Path) -> None:
    """Raise UsageError if another campaign than that in ``directory`` goes on after each boot."""
    other = find_directory()
    if other is not None and other != directory:
        raise UsageError(
            f"another campaign goes on after each boot, in {other}: wait for it, or end it with: runoff restore"
        )


def install(directory: Path, arguments: Sequence[str]) -> None:
    """Let systemd call ``runoff resume`` for ``directory`` after each boot. Raises MissingError."""
    command = [sys.executable, "-m", "runoff", "resume", str(directory), *arguments]
    try:
        write_whole(PLACE / NAME, render(directory, command, os.environ).encode())
    except OSError as error:
        raise MissingError(f"cannot write {PLACE / NAME}: {error.strerror}") from None
    _systemctl("daemon-reload")
    _systemctl("enable", NAME)


def render(directory: Path, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the text of the unit. Raises UsageError for what cannot be written in one line."""
    for told in (str(directory), str(Path.cwd()), *command, *(environment.get(name, "") for name in _PASSED_ON)):
        if any(not letter.isprintable() for letter in told):
            raise UsageError(f"--reboot: {told!r} has a character that a unit of systemd cannot: choose another name")
    passed = [f"{name}={environment[name]}" for name in _PASSED_ON if environment.get(name)]
    lines = [
        "[Unit]",
        f"Description=runoff goes on with the campaign in {_escape(str(directory))}",
        f"{_DIRECTORY}{_escape(str(directory))}",
        f"ConditionPathExists={_escape(str(directory))}",
        "",
        "[Service]",
        # Not before the machine has booted and is quiet.
        "Type=idle",
        f"WorkingDirectory={_escape(str(Path.cwd()))}",
        *(f"Environment={_quote(each)}" for each in passed),
        f"ExecStart={' '.join(_quote(word).replace('$', '$$') for word in command)}",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return "\n".join(lines) + "\n"


def find_directory() -> Path | None:
    """Return the directory of the campaign that goes on after each boot; None if none does."""
    try:
        text = (PLACE / NAME).read_text(encoding="utf-8")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(_DIRECTORY):
            return Path(line.removeprefix(_DIRECTORY).replace("%%", "%"))
    return None


def remove() -> bool:
    """Remove the unit; return whether there was one."""
    if not (PLACE / NAME).exists():
        return False
    _systemctl("disable", NAME)
    (PLACE / NAME).unlink(missing_ok=True)
    _systemctl("daemon-reload")
    return True


def restart_machine() -> None:
    """Boot, as soon as this process has ended."""
    _systemctl("reboot")


def is_shutting_down() -> bool:
    """Return whether the machine is being shut down, so that what is stopped now is to go on after the boot."""
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
