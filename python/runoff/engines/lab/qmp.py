"""Commands to a running QEMU: the QEMU Machine Protocol over a socket (QEMU, QMP specification)."""

import json
import socket
import time
from collections.abc import Mapping
from typing import Any


class QmpError(Exception):
    """QEMU refused, ended or fell silent."""


class Qmp:
    """One end of a pair of sockets; QEMU gets the other."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._buffer = b""
        self._events: list[str] = []

    def close(self) -> None:
        self._ours.close()
        self.theirs.close()

    def begin(self, timeout_s: float) -> None:
        """Negotiate with QEMU, once it runs."""
        # Now only QEMU has its end open, so its exit is noticed.
        self.theirs.close()
        deadline = time.monotonic() + timeout_s
        while "QMP" not in self._message(deadline):
            pass
        self.ask("qmp_capabilities", timeout_s=timeout_s)

    def ask(self, command: str, timeout_s: float = 60.0, **arguments: Any) -> Any:
        """Send a command and return QEMU's answer. Raises QmpError."""
        words = {"execute": command, "arguments": arguments}
        try:
            self._ours.sendall(json.dumps(words).encode() + b"\n")
        except OSError as error:
            raise QmpError(f"QEMU has gone: {error.strerror}") from None
        deadline = time.monotonic() + timeout_s
        while True:
            message = self._message(deadline)
            if "error" in message:
                raise QmpError(f"QEMU refused {command}: {message['error']['desc']}")
            if "return" in message:
                return message["return"]
            self._events.append(message.get("event", ""))

    def wait_for(self, event: str, timeout_s: float) -> None:
        """Wait for an event; return at once if it came since the last wait. Raises QmpError."""
        deadline = time.monotonic() + timeout_s
        while event not in self._events:
            self._events.append(self._message(deadline).get("event", ""))
        del self._events[: self._events.index(event) + 1]

    def _message(self, deadline: float) -> Mapping[str, Any]:
        while b"\n" not in self._buffer:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise QmpError("QEMU was silent for too long")
            self._ours.settimeout(left_s)
            try:
                read = self._ours.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError as error:
                raise QmpError(f"QEMU has gone: {error.strerror}") from None
            if not read:
                raise QmpError("QEMU has ended")
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: Mapping[str, Any] = json.loads(line)
        return message
