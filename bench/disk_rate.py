"""Random reads of 4 KiB from the disk behind an elevator, without moving parts, and from the kernel's own RAM disk.

Both are in the same guest, and fio reads one after the other. Under the virtual clock a nanosecond is an instruction
on one CPU; the real clock adds what a second CPU makes of a server that has a thread of its own.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

import figures

from runoff.engines.lab import guest, image, kernel, qemu
from runoff.engines.outcome import Taken
from runoff.plan import Clock

SIZE_MB = 256
SECONDS = {"virtual": 1, "real": 5}
ROUNDS = {"virtual": 1, "real": 3}
ELEVATORS = ("noop", "deadline", "anticipatory", "cfq")
DEPTHS = (1, 32)
LEAST = 0.7
"""Of the RAM disk's rate."""
LIMIT_S = 900

READ = (
    "fio --name=read --filename={device} --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth={depth} "
    "--time_based --runtime={seconds} --size={size_mb}m --randseed=1 --output-format=json+ | tr -d '\\n '"
)
SERVED = (
    "runoff-agent disk --elevator {elevator} --model none --size-mb {size_mb} >disk.log 2>&1 & server=$!; "
    "until grep -q device disk.log; do sleep 0.05; kill -0 $server; done; {read}; kill $server; wait $server"
)
IOPS = r'"read":\{"io_bytes":[^{}]*?"iops":([0-9.]+)'


def request(target: str, depth: int, clock: Clock) -> dict[str, Any]:
    """A sample that reads from brd or from a disk behind an elevator."""
    device = "/dev/ram0" if target == "brd" else "/dev/ublkb0"
    read = READ.format(device=device, depth=depth, seconds=SECONDS[clock], size_mb=SIZE_MB)
    script = read if target == "brd" else SERVED.format(elevator=target, size_mb=SIZE_MB, read=read)
    workload = {
        "name": "fio", "root": guest.IMAGE_ROOT, "prepare": [], "command": ["sh", "-ec", script], "environment": {},
        "timeout_s": LIMIT_S, "extract": [{"metric": "iops", "pattern": IOPS}],
    }  # fmt: skip
    return {"type": "sample", "id": f"{target} {depth}", "scheduler": {"kind": "default"}, "workload": workload}


def measure(clock: Clock, used: kernel.Kernel, root: image.Image) -> dict[tuple[str, int], list[float]]:
    """Reads per second by target and depth, one value for each round."""
    cells = [(target, depth) for _ in range(ROUNDS[clock]) for depth in DEPTHS for target in ("brd", *ELEVATORS)]
    requests = [request(*cell, clock) for cell in cells]
    virtual = clock == "virtual"
    found: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = qemu.Machine(
            kernel=used.vmlinux, initramfs=folder / "initramfs", console=folder / "console.txt",
            cpus=1 if virtual else 2, memory_mb=1024, clock=clock, accelerator="tcg", image=root.path,
        )  # fmt: skip
        orders = guest.Orders(seed=1, requests=requests) if virtual else guest.Orders()
        running = guest.boot(folder, machine, used, guest.Cargo(modules=("brd", "ublk_drv")), orders, LIMIT_S)
        try:
            for cell, each in zip(cells, requests, strict=True):
                outcome = running.agent.take(each, lambda _phase: None, LIMIT_S)
                if not isinstance(outcome, Taken):
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
    used = kernel.default()
    root = image.ensure(image.needs([], ["fio"]), lambda event: None)
    for clock in ("virtual", "real"):
        found = measure(clock, used, root)
        for depth in DEPTHS:
            own = statistics.median(found["brd", depth])
            print(f"{clock} clock, {depth} at a time, brd: {figures.spread(found['brd', depth], 'reads/s')}")
            for elevator in ELEVATORS:
                rates = [rate / own for rate in found[elevator, depth]]
                verdict = "met" if statistics.median(rates) >= LEAST else "MISSED"
                print(
                    f"{clock} clock, {depth} at a time, {elevator}: {figures.spread(rates, 'times brd')}; "
                    f"target {LEAST}: {verdict}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
