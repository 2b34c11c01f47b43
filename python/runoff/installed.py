"""How this runoff was installed: by which name root finds it, and how a library is added to it."""

import re
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path

ROOTS_PATH = frozenset(f"{top}/{name}" for top in ("", "/usr", "/usr/local") for name in ("bin", "sbin"))
"""Where sudo looks for programs, whatever the path of who calls it."""
_EXTRA = re.compile(r"""\s*;\s*extra == ['"](?P<name>[\w-]+)['"]$""")


def name_command_for_root() -> str:
    """Return the begin of a command that runs this runoff as root: with its path where sudo would not find it."""
    called = sys.argv[0] if Path(sys.argv[0]).name == "runoff" and "/" in sys.argv[0] else shutil.which("runoff")
    if called is None or str(Path(called).absolute().parent) in ROOTS_PATH:
        return "sudo runoff"
    return f"sudo {_shorten(Path(called).absolute())}"


def _shorten(path: Path) -> str:
    """Return the path for a shell, from the home directory on if it is there."""
    try:
        return f"~/{shlex.quote(str(path.relative_to(Path.home())))}"
    except (ValueError, RuntimeError):
        return shlex.quote(str(path))


def describe_adding(extra: str) -> str:
    """Return the command that adds the libraries of one of runoff's extras to the environment it runs in."""
    wanted = [each[: found.start()] for each in metadata.requires("runoff") or () if (found := _EXTRA.search(each))
              and found["name"] == extra]  # fmt: skip
    names = shlex.join(wanted)
    prefix = Path(sys.prefix)
    if prefix.parent.name == "venvs" and prefix.parent.parent.name == "pipx":
        return f"pipx inject {shlex.quote(prefix.name)} {names}"
    return f"{shlex.quote(sys.executable)} -m pip install {names}"
