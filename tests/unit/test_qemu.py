"""QEMU's command line says what the clock promises."""

from dataclasses import replace
from pathlib import Path

from runoff.engines.lab.qemu import Machine, command, kernel_command_line

REAL = Machine(Path("k"), Path("i"), Path("c,1"), cpus=2, memory_mb=512, clock="real", accelerator="tcg")
VIRTUAL = replace(REAL, cpus=1, clock="virtual", seed=7)


def test_the_virtual_clock_shuts_every_door_to_the_outside() -> None:
    words = command(VIRTUAL)
    text = " ".join(words)
    assert "-icount shift=0,sleep=off" in text
    assert "-rtc clock=vm,base=2026-01-01" in text
    assert "-seed 7" in text
    assert "max,-rdrand,-rdseed" in words
    assert "virtio" not in text
    assert "net" not in text
    assert "nokaslr" in kernel_command_line(VIRTUAL)


def test_the_real_clock_runs_cpus_side_by_side() -> None:
    text = " ".join(command(REAL))
    assert "tcg,thread=multi" in text
    assert "icount" not in text
    assert " ".join(command(replace(REAL, accelerator="kvm"))).count("-accel kvm") == 1


def test_the_console_hears_the_kernel_warn() -> None:
    # The level of a warning is 4, and what is shown is below the limit.
    assert "loglevel=5" in kernel_command_line(REAL).split()
    assert "quiet" not in kernel_command_line(REAL).split()


def test_an_image_is_private_to_the_run(tmp_path: Path) -> None:
    image = tmp_path / "image.ext4"
    image.write_bytes(bytes(4096))
    text = " ".join(command(replace(REAL, image=image)))
    assert "share=off,size=4096" in text
    assert "nvdimm=on" in text


def test_commas_in_paths_survive() -> None:
    assert "file:c,,1" in command(REAL)
