"""What attaching a scheduler costs in instructions, from the start of the agent to its first line, and in a session.

Under the virtual clock a nanosecond is an instruction, so other work on the machine does not change the figures. A
process of its own is what each sample under the virtual clock has; a session, in which the scheduler is attached and
detached three times, is what samples under the real clock have. The agent is `find_agent`'s: set ``RUNOFF_AGENT`` to
measure another.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import figures

from runoff.engines.agent import find_agent
from runoff.engines.lab import initramfs, kernel, qemu
from runoff.engines.questions import describe_schedulers

LIMIT_S = 900
DEFAULT = ("bfs", "o1", "hydra")


def measure(schedulers: list[str]) -> dict[str, int]:
    """Instructions by ``SCHEDULER WHAT``."""
    chosen = kernel.find_default()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        init = folder / "init"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-static", "-O1", "-Wall", "-o", init, source], check=True)
        archive = folder / "initramfs"
        files = {**chosen.guest_files(), "/schedulers": "".join(f"{name}\n" for name in schedulers).encode()}
        initramfs.build(init, [], files, archive, programs={"/bin/runoff-agent": find_agent()})
        machine = qemu.Machine(
            kernel=chosen.vmlinux,
            initramfs=archive,
            console=folder / "console.txt",
            cpus=1,
            memory_mb=1024,
            clock="virtual",
            accelerator="tcg",
        )
        said = subprocess.run(
            qemu.build_command(machine),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_S,
        ).stdout
        lines = [line.split() for line in said.splitlines()]
        if lines[-1:] != [["end"]]:
            sys.exit(f"the guest ended early:\n{said}\n{machine.console.read_text()}")
    return {f"{name} {what}": int(number) for name, what, number in lines[:-1]}


def main() -> None:
    """The schedulers that are named, or some; `all` for all."""
    wanted = sys.argv[1:] or list(DEFAULT)
    print(figures.machine())
    print(find_agent())
    for what, instructions in measure(sorted(describe_schedulers()) if wanted == ["all"] else wanted).items():
        print(f"{what}: {instructions / 1e6:.1f} M instructions", flush=True)


if __name__ == "__main__":
    main()
