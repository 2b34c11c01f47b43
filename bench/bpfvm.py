"""What a callback costs in the machine of crates/bpfvm, against the same C compiled for this machine, and what loading
an object takes: ``bpfvm.py [OBJECT...]``, best with objects of schedulers in use."""

import subprocess
import sys
import tempfile
from pathlib import Path

import figures

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "bench/callbacks"
RATE = ROOT / "target/x86_64-unknown-linux-gnu/release/examples/rate"
TIMES = 9
LOOPS = ("mix", "chase")
TINY_TARGET, LOOP_TARGET = 2.5, 1.6
LOAD_TARGET_MS, COMPILE_TARGET_MS = 20.0, 300.0


def ask(*words: str | Path) -> dict[str, float]:
    """Nanoseconds by name, as both programs print them."""
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    pairs = (line.split() for line in done.stdout.splitlines())
    return {name: float(number) for name, number in pairs}


def build(folder: Path) -> tuple[Path, Path]:
    """The object, and the program of this machine."""
    target, native = folder / "callbacks.bpf.o", folder / "native"
    compiler = ("clang-19", "-O2", "-g")
    subprocess.run(
        [*compiler, "-target", "bpf", "-mcpu=v3", "-c", SOURCES / "callbacks.bpf.c", "-o", target], check=True
    )
    subprocess.run([*compiler, SOURCES / "native.c", "-o", native], check=True)
    return target, native


def compare(folder: Path) -> None:
    """Calls in turn, so that what else the machine does meets both."""
    target, native = build(folder)
    pairs = [(ask(RATE, target), ask(native)) for _ in range(TIMES)]
    for name in pairs[0][1]:
        figures.show(f"{name}, native", [native[name] for _, native in pairs], "ns")
        figures.show(f"{name}, on the machine", [ours[name] for ours, _ in pairs], "ns")
        limit = LOOP_TARGET if name in LOOPS else TINY_TARGET
        figures.show(f"{name}, times native", [ours[name] / native[name] for ours, native in pairs], "times", limit)


def main() -> None:
    """Callbacks, and loading of each object that is named."""
    print(figures.machine())
    words = ["cargo", "build", "--release", "--locked", "-q", "-p", "bpfvm", "--example", "rate"]
    subprocess.run(words, check=True, cwd=ROOT)
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder))
    for path in sys.argv[1:]:
        taken = [ask(RATE, path, "1") for _ in range(TIMES)]
        figures.show(f"{path} loaded", [each["load"] / 1e6 for each in taken], "ms", LOAD_TARGET_MS)
        compiled = [each["load_and_compile"] / 1e6 for each in taken]
        figures.show(f"{path} loaded and compiled", compiled, "ms", COMPILE_TARGET_MS)


if __name__ == "__main__":
    main()
