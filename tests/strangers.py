"""Files and directories in which another user may write, and how a command of root's ends that meets them."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from runoff.cli.main import cli
from runoff.errors import RunoffError

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to another user")
NOBODY = 65534


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stderr: str


def runoff(*words: str | Path) -> Done:
    result = CliRunner().invoke(cli, [*map(str, words)], standalone_mode=False)
    if isinstance(result.exception, RunoffError):
        return Done(result.exception.exit_code, f"{result.exception.describe()}\n")
    assert result.exception is None, result.exception
    return Done(result.return_value or 0, result.stderr)


def give_to_nobody(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)


def open_to_a_group(campaign: Path) -> None:
    os.chown(campaign, 0, NOBODY)
    campaign.chmod(0o775)


_ACL_ENTRY = struct.Struct("<HHI")


def give_acl(path: Path, kind: str = "access") -> None:
    """As `setfacl -m u:nobody:rwx` (with -d for ``default``) does, for a file or directory of root's group."""
    owner, user, group, mask, other, no_id = 0x01, 0x02, 0x04, 0x10, 0x20, 0xFFFFFFFF
    entries = [(owner, 7, no_id), (user, 7, NOBODY), (group, 5, no_id), (mask, 7, no_id), (other, 5, no_id)]
    raw = struct.pack("<I", 2) + b"".join(_ACL_ENTRY.pack(*entry) for entry in entries)
    try:
        os.setxattr(path, f"system.posix_acl_{kind}", raw)
    except OSError as error:
        pytest.skip(f"no ACLs here: {error}")
