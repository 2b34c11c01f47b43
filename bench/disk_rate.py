"""Random reads of 4 KiB from the disk behind an elevator, without moving parts, from a plain RAM disk behind the same
driver (libublk's example), and from the kernel's own RAM disk.

All are in the same guest, and fio reads. Under the virtual clock a nanosecond is an instruction on one CPU; the real
clock adds what a second CPU makes of a server that has a thread of its own.
"""

import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import figures

from runoff.engines import tools
from runoff.engines.lab import guest, image, kernel, qemu
from runoff.engines.outcome import ValidSample
from runoff.results import Clock

SIZE_MB = 256
SECONDS = {"virtual": 1, "real": 5}
ROUNDS = {"virtual": 1, "real": 3}
ELEVATORS = ("noop", "deadline", "anticipatory", "cfq")
KERNELS, PLAIN = "brd", "libublk"
REFERENCES = (KERNELS, PLAIN)
DEPTHS = (1, 32)
LEAST = 0.7
"""Least share of the rate of one of the references."""
LIMIT_S = 900
PLAIN_VERSION = "0.4.8"
PROGRAMS = "sh sleep tr chroot grep test"
"""Program of this machine: the servers run outside the image that has fio."""

READ = (
    f"chroot {guest.IMAGE_ROOT} fio --name=read --filename={{device}} --rw=randread --bs=4k --direct=1 "
    "--ioengine=libaio --iodepth={depth} --time_based --runtime={seconds} --size={size_mb}m --randseed=1 "
    "--output-format=json+ | tr -d '\\n '"
)
SERVED = (
    "runoff-agent disk --elevator {target} --model none --size-mb {size_mb} >disk.log 2>&1 & server=$!; "
    "until grep -q device disk.log; do sleep 0.05; kill -0 $server; done; {read}; kill $server; wait $server"
)
SERVED_PLAINLY = (
    "ramdisk add 0 {size_mb} >disk.log; until test -b /dev/ublkb0; do sleep 0.05; done; {read}; ramdisk del_async 0; "
    "while test -b /dev/ublkb0; do sleep 0.05; done"
)
IOPS = r'"read":\{"io_bytes":[^{}]*?"iops":([0-9.]+)'


def make_plain_target() -> Path:
    """Return the example of libublk, which holds its data in memory and knows no elevator; built once."""
    root = Path(__file__).parents[1] / "build/bench"
    program = root / "bin/ramdisk"
    if not program.exists():
        # One file without libraries, which runs in any guest; and from elsewhere, as the settings here are not its.
        settings = {**os.environ, "RUSTFLAGS": "-C target-feature=+crt-static"}
        words = ["cargo", "install", "--quiet", "--locked", "--root", root, "--version", PLAIN_VERSION, "libublk"]
        target = ["--example", "ramdisk", "--target", "x86_64-unknown-linux-gnu"]
        subprocess.run([*words, *target], check=True, env=settings, cwd="/")
    return program


def collect_cargo() -> guest.Cargo:
    """Return what the guest needs beside the image."""
    found = {name: tools.locate(name) for name in PROGRAMS.split()}
    programs = {f"/usr/bin/{name}": Path(path) for name, path in found.items() if path is not None}
    return guest.Cargo(programs={**programs, "/usr/bin/ramdisk": make_plain_target()}, modules=("brd", "ublk_drv"))


def make_request(target: str, depth: int, clock: Clock) -> dict[str, Any]:
    """Return a sample that reads from a reference or from a disk behind an elevator."""
    device = "/dev/ram0" if target == KERNELS else "/dev/ublkb0"
    read = READ.format(device=device, depth=depth, seconds=SECONDS[clock], size_mb=SIZE_MB)
    script = {KERNELS: "{read}", PLAIN: SERVED_PLAINLY}.get(target, SERVED)
    command = ["sh", "-ec", script.format(target=target, size_mb=SIZE_MB, read=read)]
    workload = {
        "name": "fio", "root": None, "prepare": [], "command": command, "environment": {}, "timeout_s": LIMIT_S,
        "extract": [{"metric": "iops", "find": {"pattern": IOPS}}],
    }  # fmt: skip
    return {"type": "sample", "id": f"{target} {depth}", "scheduler": {"kind": "default"}, "workload": workload}


def measure(clock: Clock, used: kernel.Kernel, root: image.Image) -> dict[tuple[str, int], list[float]]:
    """Reads per second by target and depth, one value for each round."""
    cells = [(target, depth) for _ in range(ROUNDS[clock]) for depth in DEPTHS for target in (*REFERENCES, *ELEVATORS)]
    requests = [make_request(*cell, clock) for cell in cells]
    virtual = clock == "virtual"
    found: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = qemu.Machine(
            kernel=used.vmlinux, initramfs=folder / "initramfs", console=folder / "console.txt",
            cpus=1 if virtual else 2, memory_mb=1024, clock=clock, accelerator="tcg", image=root.path,
        )  # fmt: skip
        orders = guest.Orders(seed=1, requests=requests) if virtual else guest.Orders()
        running = guest.boot(folder, machine, used, collect_cargo(), orders, LIMIT_S)
        try:
            for cell, each in zip(cells, requests, strict=True):
                outcome = running.agent.take(each, lambda _phase: None, LIMIT_S)
                if not isinstance(outcome, ValidSample):
                    raise SystemExit(f"{cell}: {outcome}")
                found.setdefault(cell, []).append(outcome.metrics["iops"])
                print(
                    f"{clock} clock, {cell[1]} at a time, {cell[0]}: {outcome.metrics['iops']:.0f} reads/s", flush=True
                )
        finally:
            running.close()
    return found


def main() -> None:
    """One table for each clock."""
    print(figures.machine())
    used = kernel.find_default()
    root = image.ensure(image.derive_recipe([], ["fio"]), lambda event: None)
    for clock in ("virtual", "real"):
        found = measure(clock, used, root)
        for depth in DEPTHS:
            for reference in REFERENCES:
                show(clock, depth, reference, found)


def show(clock: Clock, depth: int, reference: str, found: dict[tuple[str, int], list[float]]) -> None:
    """How each elevator does beside one reference."""
    where = f"{clock} clock, {depth} at a time"
    print(f"{where}, {reference}: {figures.spread(found[reference, depth], 'reads/s')}")
    own = statistics.median(found[reference, depth])
    for elevator in ELEVATORS:
        rates = [rate / own for rate in found[elevator, depth]]
        verdict = "met" if statistics.median(rates) >= LEAST else "MISSED"
        told = figures.spread(rates, f"times {reference}")
        print(f"{where}, {elevator}: {told}; target {LEAST}: {verdict}", flush=True)


if __name__ == "__main__":
    main()
