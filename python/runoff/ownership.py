"""Who else may write a path. Root trusts nothing that another user could have put there or could redirect."""

import errno
import os
import pwd
import stat
import struct
from collections import deque
from collections.abc import Iterator, Set
from pathlib import Path

MOST_LINKS = 40
"""Links that one path may lead through, as for the kernel (path_resolution(7))."""
_ACL_ENTRY = struct.Struct("<HHI")
_ACL_HEADER_BYTES = 4
_ACL_USER, _ACL_GROUP_OWNER, _ACL_GROUP, _ACL_MASK, _ACL_OTHER = 0x02, 0x04, 0x08, 0x10, 0x20
_ACL_WRITE = 0o2
_NO_ACL = {errno.ENODATA, errno.EOPNOTSUPP}


def find_other_writer(path: Path, own: Set[int] | None = None, *, is_passed: bool = False) -> str | None:
    """Return who else may change what ``path`` leads to, as the beginning of a sentence; None if nobody may.

    Looks at all that the path leads through: each directory from the root on, each link, and what these lead to. What
    does not exist yet is not looked at. ``own`` are the users (and groups) that count as this one; without it root and
    the user who called sudo. Of what ``is_passed`` only what is made in it matters. Raises OSError.
    """
    end = "" if is_passed or not path.exists() else os.path.realpath(path)
    for place, about in _list_steps(path):
        if (why := find_objection(place, about, own, is_passed=str(place) != end)) is not None:
            return why
    return None


def find_other_writer_inside(directory: Path) -> str | None:
    """Return the same of the first thing below ``directory``. Raises OSError."""
    for path, about in list_entries(directory):
        if (why := find_objection(path, about)) is not None:
            return why
    return None


def find_objection(
    path: Path, about: os.stat_result, own: Set[int] | None = None, *, is_passed: bool = False
) -> str | None:
    """Return why ``path`` itself, of which ``about`` is known, may be changed by others; None if it may not.

    A directory that ``is_passed`` on the way may be one such as /tmp, in which everybody may make files but only their
    owners may replace them. Raises OSError.
    """
    users, groups = (own, own) if own is not None else (_list_own("SUDO_UID"), _list_own("SUDO_GID"))
    if about.st_uid not in users:
        return f"{path} belongs to {name_user(about.st_uid)}"
    if stat.S_ISLNK(about.st_mode) or (is_passed and about.st_mode & stat.S_ISVTX):
        return None
    lists = [_read_acl(path, "system.posix_acl_access")]
    if stat.S_ISDIR(about.st_mode) and not is_passed:
        # What is made in it would have this one.
        lists.append(_read_acl(path, "system.posix_acl_default"))
    if any(_may_others_write(acl, about, users, groups) for acl in lists if acl):
        return f"{path} can be written by others (see getfacl)"
    by_group = about.st_mode & stat.S_IWGRP and about.st_gid not in groups and not lists[0]
    if by_group or about.st_mode & stat.S_IWOTH:
        return f"{path} can be written by others"
    return None


def list_entries(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield all below ``directory``, with what each itself is. Raises OSError."""

    def fail(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(directory, onerror=fail):
        for name in (*folders, *files):
            path = Path(folder, name)
            yield path, path.lstat()


def name_user(uid: int) -> str:
    """Return the name of a user for a sentence."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} (user {uid})"
    except KeyError:
        return f"user {uid}"


def _list_steps(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what a path leads through from the root on, links too, as far as it exists. Raises OSError."""
    left = deque(path.absolute().parts)
    place = Path(left.popleft())
    yield place, place.lstat()
    links = 0
    while left:
        name = left.popleft()
        if name == "..":
            place = place.parent
            continue
        try:
            about = (place / name).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return
        yield place / name, about
        if not stat.S_ISLNK(about.st_mode):
            place = place / name
            continue
        if (links := links + 1) > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = (place / name).readlink()
        left.extendleft(reversed(target.parts))
        if target.is_absolute():
            place = Path(left.popleft())


def _list_own(variable: str) -> Set[int]:
    """Return the ids of root and of the user who called sudo."""
    called = os.environ.get(variable, "")
    return {0, int(called)} if called.isdecimal() else {0}


def _read_acl(path: Path, name: str) -> list[tuple[int, int, int]]:
    """Return tag, permissions and id of each entry of a POSIX ACL (acl(5)); none where there is none."""
    try:
        raw = os.getxattr(path, name, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_ACL:
            return []
        raise
    whole = len(raw) - (len(raw) - _ACL_HEADER_BYTES) % _ACL_ENTRY.size
    return list(_ACL_ENTRY.iter_unpack(raw[_ACL_HEADER_BYTES:whole]))


def _may_others_write(
    acl: list[tuple[int, int, int]], about: os.stat_result, users: Set[int], groups: Set[int]
) -> bool:
    mask = next((permissions for tag, permissions, _ in acl if tag == _ACL_MASK), 0o7)
    others = (
        permissions & (0o7 if tag == _ACL_OTHER else mask)
        for tag, permissions, number in acl
        if tag == _ACL_OTHER
        or (tag == _ACL_USER and number not in users)
        or (tag == _ACL_GROUP and number not in groups)
        or (tag == _ACL_GROUP_OWNER and about.st_gid not in groups)
    )
    return any(permissions & _ACL_WRITE for permissions in others)
