"""The address of a cluster, as it is given with ``--cluster``."""

import ipaddress
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runoff.errors import MissingError, UsageError
from runoff.reading import parse_json, read_text

MOST_LOCAL = 64


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """A cluster that lives as long as the campaign: workers on this machine."""

    count: int


@dataclass(frozen=True, slots=True)
class RemoteScheduler:
    """The scheduler of a cluster that is there already."""

    address: str
    file: Path | None = None
    """The file that names it: a scheduler that is started again may have another address."""


Address = LocalWorkers | RemoteScheduler


def parse_address(text: str) -> Address:
    """Return what ``local:N``, ``tls://HOST:PORT`` or the path of a scheduler file means. Raises RunoffError."""
    kind, colon, count = text.partition(":")
    if kind == "local" and colon:
        if not re.fullmatch(r"[1-9]\d?", count) or int(count) > MOST_LOCAL:
            raise UsageError(f"--cluster {text}: give a number of workers from 1 to {MOST_LOCAL}, such as local:2")
        return LocalWorkers(int(count))
    if "://" in text:
        if re.fullmatch(r"tls://(\[[^\]]*\]|[^:/]+)/?", text):
            raise UsageError(f"--cluster {text}: the port is missing: tls://HOST:PORT, usually {text.rstrip('/')}:8786")
        require_safe(text)
        return RemoteScheduler(text)
    return RemoteScheduler(_read_scheduler_file(Path(text)), Path(text))


def require_safe(address: str) -> None:
    """Raise UsageError unless what is sent to ``address`` is encrypted, or stays on this machine and is not root's."""
    if is_plain(address) and os.geteuid() == 0:
        raise UsageError(
            f"{address} is without TLS, so every user of this machine could run programs as root: start scheduler and "
            "workers with TLS (docs/cluster.md), or use --cluster local:N"
        )
    if not is_safe(address):
        raise UsageError(
            f"{address} is neither tls:// nor on this machine, and anyone who can connect to a worker can run programs "
            "on it: start scheduler and workers with TLS (docs/cluster.md)"
        )


def is_plain(address: str) -> bool:
    """Return whether ``address`` is of this machine's loopback interface, without TLS."""
    return address.startswith("tcp://") and is_safe(address)


def is_safe(address: str) -> bool:
    """Return whether ``address`` is of TLS, or of the loopback interface."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or port is None:
        return False
    return parts.scheme == "tls" or (parts.scheme == "tcp" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_scheduler_file(path: Path) -> str:
    """Return the address in a file that ``dask scheduler --scheduler-file`` has written."""
    try:
        address = parse_json(read_text(path))["address"]
    except OSError as error:
        raise MissingError(
            f"--cluster {path}: {error.strerror}; give local:N, tls://HOST:PORT or a scheduler file"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is not a scheduler file: dask scheduler --scheduler-file FILE writes one") from None
    require_safe(str(address))
    return str(address)
