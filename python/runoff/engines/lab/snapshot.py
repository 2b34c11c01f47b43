"""A snapshot of a booted, quiet guest in the cache. Under the virtual clock samples run in copies of it.

A copy shares the guest's memory and disks until it writes to them (MAP_PRIVATE), so it costs next to nothing and leaves
the snapshot as it was.
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runoff.engines import sparse, tools
from runoff.engines.agent import Agent, AgentLost, end_with_us
from runoff.engines.lab import cache, guest, qemu
from runoff.engines.lab.guest import Cargo, Guest, Orders
from runoff.engines.lab.kernel import Kernel
from runoff.engines.lab.qmp import Qmp, QmpError

FORMAT = 1
"""Version of the format of snapshots; raising it makes all of them anew."""

MOST = 12
"""Most snapshots in the cache: the least recently used one is removed, but none that was used in the last ten
minutes."""
IN_USE_S = 600.0

ROOM_MB = 1024
"""Room besides the image: the memory that a quiet guest has touched is a quarter of this."""

_LEAST_ROOM_MB = 8
"""With less room left, a lost guest is explained by a full disk."""

_META = "meta.json"
_STATE = "state"
"""File with the state of the devices; the memory is in files of its own."""
_INITRAMFS = "initramfs"
_CONSOLE = "console.txt"
_ORDERS = "orders.json"
_NAME_LENGTH = 16
_ANSWER_LIMIT_S = 60.0
_LOOK_S = 0.005


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A guest in the cache."""

    directory: Path
    """The directory, named by a digest of all that the guest was made of."""
    made_as: qemu.Machine
    """The guest as it was booted; its files are in that directory now."""

    @property
    def machine(self) -> qemu.Machine:
        return _use_files_in(self.directory, self.made_as)

    @property
    def name(self) -> str:
        return self.directory.name

    @property
    def is_there(self) -> bool:
        """Return whether it is still there: another runoff may have removed it. From now on it is in use."""
        return _use(self.directory)


def ensure(machine: qemu.Machine, kernel: Kernel, cargo: Cargo, limit_s: float, say: cache.Progress) -> Snapshot:
    """Return the snapshot of this guest, booted now if there is none, or if it is damaged.

    ``machine`` is a guest whose files are in a directory of the caller, and stay as they are.

    Raises:
        AgentLost: it does not start, with the console's reason.
        MissingError: the cache has no room for it.
    """
    guest.pack(machine, kernel, cargo, None)

    def boot(part: Path) -> None:
        say(f"booting {kernel.name} on {machine.cpus} CPUs once: samples run in copies of this guest")
        inside = _use_files_in(part, machine)
        shutil.copy(machine.initramfs, inside.initramfs)
        for name, path in machine.files.items():
            _copy(path, inside.files[name])
        for name, mb in machine.banks.items():
            with (part / name).open("wb") as bank:
                bank.truncate(mb << 20)
        with _start_qemu(inside, part, _write_orders(part, Orders()), writes=True, goes_on=False) as (agent, qmp, _):
            _keep(qmp, part, limit_s)
            agent.kill()

    return Snapshot(_ensure_directory(_name(machine, kernel), boot, say), machine)


def ensure_ready(base: Snapshot, scheduler: Mapping[str, Any], limit_s: float, say: cache.Progress) -> Snapshot:
    """Return a snapshot of ``base`` with a scheduler made ready once, not in every sample: the kernel has verified its
    object, or its program runs and has put it in charge.

    Raises:
        AgentLost: that fails, or the guest is lost.
        MissingError: the cache has no room for it.
    """

    def make_ready(part: Path) -> None:
        say(_describe_ready(scheduler))
        inside = _use_files_in(part, base.machine)
        banks = [base.directory / name for name in base.machine.banks]
        for path in (*banks, base.machine.initramfs, *base.machine.files.values()):
            _copy(path, part / path.name)
        orders = _write_orders(part, Orders(), scheduler)
        with _start_qemu(inside, part, orders, writes=True, goes_on=True) as (agent, qmp, _):
            _resume_copy(qmp, base)
            _keep(qmp, part, limit_s)
            agent.kill()

    made_of = json.dumps([base.name, scheduler], sort_keys=True)
    name = hashlib.sha256(made_of.encode()).hexdigest()[:_NAME_LENGTH]
    return Snapshot(_ensure_directory(name, make_ready, say), base.made_as)


def restore(snapshot: Snapshot, folder: Path, orders: Orders, limit_s: float, budget_s: float | None = None) -> Guest:
    """Return a copy, which goes on with these orders, for ``budget_s`` of its own time at most. Raises AgentLost."""
    _use(snapshot.directory)
    machine = replace(snapshot.machine, console=folder / _CONSOLE, budget_s=budget_s)
    file = _write_orders(folder, orders)
    with _start_qemu(machine, snapshot.directory, file, writes=False, goes_on=True) as (agent, qmp, command):
        (folder / "qemu.txt").write_text(" ".join(command) + "\n", encoding="utf-8")
        _resume_copy(qmp, snapshot)
        fingerprint = agent.hello(limit_s).fingerprint
    return Guest(agent, machine.console, fingerprint, is_copy=True)


def _ensure_directory(name: str, make: Callable[[Path], None], say: cache.Progress) -> Path:
    """Return the directory of this name, which ``make`` fills if it is not there, or damaged."""
    final = cache.snapshots() / name
    _use(final)
    with cache.build_directory(final, say, _is_whole) as part:
        if part is not None:
            cache.require_room(part, ROOM_MB)
            try:
                make(part)
            except AgentLost:
                # A QEMU whose memory does not fit on the disk is ended by a signal, which has no reason.
                cache.require_room(part, _LEAST_ROOM_MB)
                raise
            (part / _ORDERS).unlink()
            (part / _META).write_text(json.dumps({"sha256": _digests(part)}, indent=2) + "\n", encoding="utf-8")
    _use(final)
    _forget_old()
    return final


def _copy(path: Path, target: Path) -> None:
    tools.run(["cp", "--sparse=always", "--reflink=auto", path, target], what=f"copying {path.name}")


def _describe_ready(scheduler: Mapping[str, Any]) -> str:
    if scheduler["kind"] == "program":
        return f"starting {Path(scheduler['argv'][0]).name} in a copy of this guest once"
    return f"loading {scheduler.get('name', scheduler.get('path'))} in a copy of this guest once"


def _write_orders(folder: Path, orders: Orders, ready: Mapping[str, Any] | None = None) -> Path:
    """Write the orders that crates/agent/src/guest/snapshot.rs reads; return their file."""
    file = folder / _ORDERS
    words = {"ready": ready, "seed": orders.seed or 0, "requests": list(orders.requests or ())}
    file.write_text(json.dumps(words), encoding="utf-8")
    return file


def _keep(qmp: Qmp, part: Path, limit_s: float) -> None:
    """Wait until the guest has stopped itself; then store its devices. Its memory is in files already."""
    qmp.wait_for("STOP", limit_s)
    qmp.ask("migrate", uri=f"file:{part / _STATE}")
    _await_migration(qmp)


def _resume_copy(qmp: Qmp, snapshot: Snapshot) -> None:
    qmp.ask("migrate-incoming", uri=f"file:{snapshot.directory / _STATE}")
    _await_migration(qmp)
    qmp.ask("cont")
    qmp.wait_for("RESUME", _ANSWER_LIMIT_S)


@contextlib.contextmanager
def _start_qemu(
    machine: qemu.Machine, directory: Path, orders: Path, *, writes: bool, goes_on: bool
) -> Iterator[tuple[Agent, Qmp, list[str]]]:
    """Start a QEMU that takes commands, with its memory in ``directory``. If the block fails, end it and raise
    AgentLost."""
    qmp = Qmp()
    keeping = qemu.SnapshotFiles(directory, orders, qmp.theirs.fileno(), writes, goes_on)
    command = qemu.build_command(replace(machine, keeping=keeping))
    agent = Agent(end_with_us(command), requests=False, pass_fds=[qmp.theirs.fileno()])
    try:
        qmp.begin(_ANSWER_LIMIT_S)
        qmp.ask("migrate-set-capabilities", capabilities=[{"capability": "x-ignore-shared", "state": True}])
        yield agent, qmp, command
    except (AgentLost, QmpError) as lost:
        agent.kill()
        raise guest.make_start_error(machine.console, agent, lost) from None
    except BaseException:
        agent.kill()
        raise
    finally:
        qmp.close()


def _await_migration(qmp: Qmp) -> None:
    deadline = time.monotonic() + _ANSWER_LIMIT_S
    while True:
        about = qmp.ask("query-migrate")
        match about.get("status"):
            case "completed":
                return
            case "failed":
                raise QmpError(f"its state cannot be moved: {about.get('error-desc', 'no reason')}")
        if time.monotonic() > deadline:
            raise QmpError("its state was not moved in time")
        time.sleep(_LOOK_S)


def _use_files_in(directory: Path, machine: qemu.Machine) -> qemu.Machine:
    """Return ``machine`` with its files in ``directory``."""
    return replace(
        machine,
        initramfs=directory / _INITRAMFS,
        console=directory / _CONSOLE,
        image=directory / "image" if machine.image else None,
        disk=directory / "disk" if machine.disk else None,
        swap=directory / "swap" if machine.swap else None,
    )


def _name(machine: qemu.Machine, kernel: Kernel) -> str:
    """Return a name from all that decides the guest's state: QEMU, its command line and the files it names."""
    files = {name: sparse.sha256(path) for name, path in machine.files.items()}
    made_of = [
        FORMAT,
        cache.known_sha256(Path(machine.program)),
        cache.known_sha256(kernel.vmlinux),
        cache.sha256(machine.initramfs),
        files,
        _hide_paths(qemu.build_command(machine), machine),
    ]
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:_NAME_LENGTH]


def _hide_paths(command: list[str], machine: qemu.Machine) -> str:
    text = " ".join(command)
    for path in (machine.program, machine.kernel, machine.initramfs, machine.console, *machine.files.values()):
        text = text.replace(str(path), "")
    return text


def _digests(directory: Path) -> dict[str, str]:
    """Return digests by file. A second boot repeats the memory's digest; the state contains the host's time."""
    names = sorted(path.name for path in directory.iterdir() if path.name not in (_META, _CONSOLE))
    return {name: sparse.sha256(directory / name) for name in names}


def _is_whole(directory: Path) -> bool:
    try:
        meta = json.loads((directory / _META).read_text(encoding="utf-8"))
        return bool(meta["sha256"] == _digests(directory))
    except (OSError, ValueError, KeyError):
        return False


def _use(directory: Path) -> bool:
    """Note that it was used just now; return whether it is there."""
    with contextlib.suppress(OSError):
        os.utime(directory)
    return directory.is_dir()


def _forget_old() -> None:
    """Remove old snapshots. Running copies have the files open; a locked snapshot is spared."""
    used: list[tuple[float, Path]] = []
    for path in cache.snapshots().glob("[!.]*"):
        # Another runoff may remove it at the same time.
        with contextlib.suppress(FileNotFoundError):
            used.append((path.stat().st_mtime, path))
    for at, path in sorted(used, reverse=True)[MOST:]:
        if time.time() - at > IN_USE_S:
            with cache.try_lock(path) as is_held:
                if is_held and path.stat().st_mtime == at:
                    shutil.rmtree(path, ignore_errors=True)
