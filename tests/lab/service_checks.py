"""Runs as a service of the machine of service_machine.py: campaigns while scx.service has a scheduler in charge.
found.json has what was found."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RUNOFF = [sys.executable, "-m", "runoff"]
UNIT = "scx.service"
LIMIT_S = 600.0
WORK = ["--work", "counters:n=2,count=2000,passes=1", "--on", "host", "--blocks", "1"]
LONG = ["--work", "command:sleep 100", "--on", "host", "--blocks", "1"]


def main() -> None:
    found: dict[str, Any] = {}
    checks = [refuse, take_over, kill_runoff, kill_both, kill_program, refuse_what_is_no_service]
    if Path("/usr/bin/scx_loader").exists():
        checks.append(take_over_loader)
    for check in checks:
        subprocess.run(["systemctl", "start", UNIT], check=True)
        wait_until(lambda: read_ops() == "bfs")
        found[check.__name__] = check()
        Path("/found.json").write_text(json.dumps(found))


def refuse() -> dict[str, Any]:
    done = call("compare", "default", "cfs", *WORK, "--out", "/refused")
    return {
        "code": done.returncode, "said": done.stderr, "active": is_active(), "made": Path("/refused").exists(),
        "doctor": call("doctor").stdout,
    }  # fmt: skip


def take_over() -> dict[str, Any]:
    done = call("compare", "default", "cfs", *WORK, "--out", "/taken", "--take-over", "--json")
    document = json.loads(done.stdout) if done.stdout else {}
    samples = [
        {"arm": each["arm"], "valid": each["valid"], "reason": each["reason"]} for each in document.get("samples", ())
    ]
    return {
        "code": done.returncode, "said": done.stderr, "samples": samples, "warnings": document.get("warnings"),
        **look_again(),
    }  # fmt: skip


def kill_runoff() -> dict[str, Any]:
    campaign = begin("/killed")
    campaign.kill()
    campaign.wait()
    wait_until(is_active)
    wait_until(lambda: not list(Path("/run/runoff-services").glob("runoff-*")))
    return look_again()


def kill_both() -> dict[str, Any]:
    kill_all(begin("/both"))
    before = look()
    done = call("restore")
    return {"before": before, "restored": done.stdout, "code": done.returncode, **look_again()}


def kill_program() -> dict[str, Any]:
    """Nothing of a program that has a scheduler in charge is left, if runoff and its agent are killed."""
    programs = [f"exec:/usr/local/bin/runoff-agent attach {name}" for name in ("o1", "cfs")]
    campaign = begin("/program", *programs)
    wait_until(lambda: read_ops() in ("o1", "cfs"))
    kill_all(campaign)
    call("restore")
    return {
        "programs": [pid for name in ("o1", "cfs") for pid in find_processes("runoff-agent", "attach", name)],
        **look_again(),
    }


def refuse_what_is_no_service() -> dict[str, Any]:
    subprocess.run(["systemctl", "stop", UNIT], check=True)
    # In a scope of its own it is in no service, as from a terminal.
    words = ["systemd-run", "--scope", "--slice=user.slice", "--quiet", "/usr/local/bin/runoff-agent", "attach", "o1"]
    by_hand = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    wait_until(lambda: read_ops() == "o1")
    plain = call("compare", "default", "cfs", *WORK, "--out", "/hand")
    taking = call("compare", "default", "cfs", *WORK, "--out", "/hand", "--take-over")
    found = {"codes": [plain.returncode, taking.returncode], "said": [plain.stderr, taking.stderr], "ops": read_ops()}
    by_hand.terminate()
    by_hand.wait()
    return found


def take_over_loader() -> dict[str, Any]:
    """scx_loader has the scheduler again that it had been asked for, with its mode or its arguments."""
    subprocess.run(["systemctl", "stop", UNIT], check=True)
    subprocess.run(["systemctl", "start", "scx_loader.service"], check=True)
    found = {}
    for name, words in {
        "mode": ("Scheduler", "su", "4"),
        "arguments": ("SchedulerWithArgs", "sas", "2", "-s", "5000"),
    }.items():
        method, signature, *rest = words
        call_loader("call", f"Switch{method}", signature, "scx_flash", *rest)
        wait_until(lambda: read_ops().startswith("flash"))
        before = describe_loader()
        done = call("compare", "default", "cfs", *WORK, "--out", f"/loader-{name}", "--take-over", "--json")
        wait_until(lambda: read_ops().startswith("flash"))
        found[name] = {"code": done.returncode, "said": done.stderr, "before": before, "after": describe_loader()}
    subprocess.run(["systemctl", "stop", "scx_loader.service"], check=True)
    return found


def describe_loader() -> list[str]:
    names = ("CurrentScheduler", "SchedulerMode", "CurrentSchedulerArgs")
    return [call_loader("get-property", name).strip() for name in names]


def call_loader(command: str, *words: str) -> str:
    place = ["org.scx.Loader", "/org/scx/Loader", "org.scx.Loader"]
    return subprocess.run(["busctl", "--", command, *place, *words], capture_output=True, text=True, check=True).stdout


def begin(directory: str, *arms: str) -> "subprocess.Popen[bytes]":
    """Begin a campaign that has taken over, and wait until its sample runs."""
    words = ["compare", *(arms or ("default", "cfs")), *LONG, "--out", directory, "--take-over"]
    campaign = subprocess.Popen([*RUNOFF, *words])
    wait_until(lambda: not is_active())
    wait_until(lambda: bool(find_processes("sleep", "100")))
    return campaign


def kill_all(campaign: "subprocess.Popen[bytes]") -> None:
    """Kill a campaign and its agent, and wait until the kernel has ended what goes with them."""
    for pid in (campaign.pid, *find_processes("runoff-agent", "session")):
        os.kill(pid, signal.SIGKILL)
    campaign.wait()
    time.sleep(2)


def find_processes(program: str, *arguments: str) -> list[int]:
    """Return the processes of a program whose command line begins with these arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().decode().split("\0")
            if Path(words[0]).name == program and words[1 : 1 + len(arguments)] == [*arguments]:
                found.append(int(path.parent.name))
    return found


def look_again() -> dict[str, Any]:
    """Look when the service that was started again has its scheduler in charge."""
    wait_until(lambda: read_ops() == "bfs")
    return look()


def look() -> dict[str, Any]:
    """What is in charge, whether the service runs, and what is left to be put back."""
    left = [path.name for path in Path("/run/runoff-services").glob("runoff-*")]
    return {"ops": read_ops(), "active": is_active(), "left": len(left)}


def call(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*RUNOFF, *words], capture_output=True, text=True, check=False)


def is_active() -> bool:
    return subprocess.run(["systemctl", "is-active", "--quiet", UNIT], check=False).returncode == 0


def read_ops() -> str:
    try:
        return Path("/sys/kernel/sched_ext/root/ops").read_text().strip()
    except OSError:
        return ""


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.2)


if __name__ == "__main__":
    main()
