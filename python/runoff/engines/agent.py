"""One agent: a child process that takes requests and gives events, here or inside a guest."""

import contextlib
import functools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

from runoff.engines.base import OnPhase
from runoff.engines.events import NotAnEvent, Reader
from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm, ValidSample, VoidSample
from runoff.errors import MissingError, RunoffError
from runoff.plan.arm_settings import Setting
from runoff.workloads import Work

PROTOCOL = 14
_FIRST_NAMESPACE = 0xEFFFFFFC
"""Inode of the first PID namespace of a machine (PROC_PID_INIT_INO)."""

SCRATCH = "/tmp"
"""Default directory for those of workloads and loads, also in the protocol."""


class AgentLost(Exception):
    """The agent, or the guest that it runs in, ended or fell silent in the middle of its work."""


class AgentLeft(AgentLost):
    """The agent had ended before it began with a request, for example after a signal between two samples."""


def find_agent() -> Path:
    """Return the agent's program: ``RUNOFF_AGENT``, beside this Python, or on the path. Raises MissingError."""
    candidates = [
        os.environ.get("RUNOFF_AGENT"),
        str(Path(sys.executable).parent / "runoff-agent"),
        which("runoff-agent"),
    ]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate).resolve()
    raise MissingError("runoff-agent was not found: install the runoff wheel, or set RUNOFF_AGENT to the program")


def ask(command: str, text: str = "") -> str:
    """Return what a command of the agent prints. Raises RunoffError."""
    agent = find_agent()
    try:
        return subprocess.run([agent, command], check=True, capture_output=True, text=True, input=text).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RunoffError(f"{agent} {command} failed: {error}") from None


def end_with_us(command: Sequence[str | Path], *, gently: bool = False) -> list[str | Path]:
    """Return a command line whose program is killed when this process ends.

    ``gently``: the program gets SIGTERM first. The thread that starts the program must outlive it.
    """
    return [find_agent(), "end-with", str(os.getpid()), *(["--gently"] if gently else []), "--", *command]


@functools.cache
def _reader() -> Reader:
    schema = json.loads(ask("schema"))
    if schema["version"] != PROTOCOL:
        raise RunoffError(
            f"{find_agent()} speaks protocol {schema['version']}, this runoff {PROTOCOL}: install both from one version"
        )
    return Reader(schema["event"])


class StaysError(RunoffError):
    """Something that an agent left behind cannot be removed."""

    def __init__(self, stays: str, done: str) -> None:
        super().__init__(stays)
        self.done = done
        """One line for each thing that was put back."""


def sweep() -> str:
    """Put back what dead agents have left; return one line for each thing. Raises StaysError."""
    done = subprocess.run([find_agent(), "sweep"], capture_output=True, text=True, check=False)
    output = done.stdout.strip()
    if done.returncode != 0:
        raise StaysError(done.stderr.strip().removeprefix("runoff-agent: ") or "the agent could not clean up", output)
    return output


def check_request(
    scheduler: Mapping[str, Any],
    *,
    scratch: str = SCRATCH,
    disk: Mapping[str, Any] | None = None,
    settings: Sequence[Setting] = (),
    works: Sequence[Sequence[tuple[str, str]]] = (),
) -> dict[str, Any]:
    """Make the request that asks whether this scheduler, this disk in ``scratch`` and these settings can be used, and
    those of ``works``, the workload first."""
    return {
        "type": "check",
        "id": "check",
        "scheduler": scheduler,
        "scratch": scratch,
        "disk": disk,
        "settings": _list_settings(settings),
        "works": [[{"name": name, "value": value} for name, value in each] for each in works],
    }


def _list_settings(settings: Sequence[Setting]) -> list[dict[str, str]]:
    return [{"name": each.name, "value": each.value} for each in settings]


def make_sample_request(
    cell_id: str,
    scheduler: Mapping[str, Any],
    work: Work,
    load: Work | None = None,
    *,
    flush: bool = False,
    probes: Sequence[str] = (),
    root: str | None = None,
    scratch: str = SCRATCH,
    disk: Mapping[str, Any] | None = None,
    settings: Sequence[Setting] = (),
    controllers: Sequence[str] = (),
) -> dict[str, Any]:
    """Make the request for one sample of ``work`` with ``load``, with ``root`` as their ``/`` and directories in
    ``scratch``, on ``disk`` if there is one (``runoff.engines.disks``), while ``settings`` are in force and
    ``controllers`` of control groups are on.

    ``probes`` observe the work; ``flush`` is ignored for a load that means a rehearsed work.
    """
    rehearse = load is not None and load.definition.rehearse
    workload = work.message(root)
    workload["settings"] = _list_settings([each for each in settings if each.scope == "work"])
    workload["controllers"] = list(dict.fromkeys([*workload["controllers"], *controllers]))
    return {
        "type": "sample",
        "id": cell_id,
        "scheduler": scheduler,
        "workload": workload,
        "load": None if load is None or rehearse else load.load_message(root),
        "flush": flush and not rehearse,
        "rehearse": rehearse,
        "probes": list(probes),
        "scratch": scratch,
        "disk": disk,
        "settings": _list_settings([each for each in settings if each.scope != "work"]),
    }


@dataclass(frozen=True, slots=True)
class Hello:
    """What an agent says of itself."""

    fingerprint: Mapping[str, Any]
    """Fingerprint of the machine."""
    instrument: str
    """What it runs with, for ``session --instrument`` of an agent that takes its place."""


class Agent:
    """An agent process; speaks the protocol of docs/protocol.md over its standard streams."""

    def __init__(self, argv: Sequence[str | Path], *, requests: bool = True, pass_fds: Sequence[int] = ()) -> None:
        """With ``requests`` false the agent has its requests already (virtual clock), and only events come.
        ``pass_fds`` stay open in the process."""
        self._reader = _reader()
        self._requests = requests
        # A session of its own: Ctrl-C is for the campaign, which decides what it means for the sample.
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE if requests else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=pass_fds,
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._stderr = bytearray()
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._read_events, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()
        self.log: list[str] = []

    def name(self, purpose: str) -> str:
        """Return a name that a later agent recognises as this one's, to remove it when this one is gone
        (crates/machine/src/owner.rs)."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        # The command's name, in brackets, may contain anything; the start is the 22nd field of proc(5).
        started = stat.rpartition(")")[2].split()[19]
        namespace = Path(f"/proc/{self._process.pid}/ns/pid").stat().st_ino
        inside = "" if namespace == _FIRST_NAMESPACE else f".{namespace}"
        return f"runoff-{self._process.pid}.{started}{inside}-{purpose}-0"

    def hello(self, timeout_s: float) -> Hello:
        """Return what it says first. Raises AgentLost, and RunoffError if it speaks another protocol."""
        event = self._next("hello", timeout_s)
        if event["protocol"] != PROTOCOL:
            raise RunoffError(f"the agent speaks protocol {event['protocol']}, this runoff {PROTOCOL}")
        return Hello(event["fingerprint"], json.dumps(event["instrument"]))

    def check(self, request: Mapping[str, Any], timeout_s: float) -> AcceptedArm | RefusedArm:
        """Try an arm and put everything back. Raises AgentLost."""
        if self._requests:
            self._send(request)
        event = self._next(("checked", "refused"), timeout_s)
        if event["type"] == "refused":
            return RefusedArm(event["reason"], event["detail"], exit_code=event["exit_code"])
        return AcceptedArm(event["ops"], event["object"], event["disks"], event["settings"])

    def take(self, request: Mapping[str, Any], on_phase: OnPhase, timeout_s: float) -> Outcome:
        """Return one sample; each silence may last ``timeout_s``. Raises AgentLost, AgentLeft if it was not begun."""
        if self._requests:
            self._send(request)
        log = []
        event = self._next(("progress", "requests", "sample", "void", "bye"), timeout_s)
        if event["type"] == "bye":
            raise AgentLeft("it ended before it began")
        while True:
            if event["id"] != request["id"]:
                raise AgentLost(f"the agent answered for {event['id']} instead of {request['id']}")
            match event["type"]:
                case "progress":
                    on_phase(event["phase"])
                case "requests":
                    log.append(event["text"])
                case "sample":
                    return ValidSample(event["metrics"], event["proof"], "".join(log))
                case _:
                    return VoidSample(event["reason"], event["detail"], event["proof"], stopped=event["stopped"])
            event = self._next(("progress", "requests", "sample", "void"), timeout_s)

    def close(self, timeout_s: float = 15.0) -> None:
        """Let it put everything back, and ``terminate`` it if it does not. Closing twice is harmless."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(AgentLost, OSError):
                self._send({"type": "bye"})
                self._process.stdin.close()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.terminate()
        self._finish()

    def terminate(self) -> None:
        """Ask it to end its work, put everything back and exit. If it is killed after 10 s, that is left to
        ``sweep``."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """Kill the agent when it hangs: nothing is put back."""
        self._process.kill()
        self._process.wait()
        self._finish()

    def last_words(self) -> str:
        """Return the end of its standard error output."""
        return self._stderr.decode(errors="replace").strip()

    def _finish(self) -> None:
        for thread in self._threads:
            thread.join(5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise AgentLeft("the agent has gone") from None

    def _next(self, kinds: str | tuple[str, ...], timeout_s: float) -> dict[str, Any]:
        while True:
            try:
                line = self._lines.get(timeout=timeout_s)
            except queue.Empty:
                raise AgentLost(f"nothing was heard for {timeout_s:.0f} s") from None
            if line is None:
                raise AgentLost("it ended before it answered")
            try:
                event = self._reader.read(line)
            except NotAnEvent as error:
                raise AgentLost(str(error)) from None
            if event["type"] == "log":
                self.log.append(event["text"])
                continue
            if event["type"] not in kinds:
                raise AgentLost(f"{event['type']!r} came where {kinds} was due")
            return event

    def _read_events(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip():
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._stderr += line
            del self._stderr[:-8192]
