"""A kernel from the cache boots with an image attached as NVDIMM, and the programs in it work."""

import subprocess
from pathlib import Path

import pytest

from runoff.engines import tools
from runoff.engines.lab import image, initramfs, kernel
from runoff.errors import MissingError
from runoff.workloads import WORKLOADS

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

GUEST_LIMIT_S = 300


@pytest.fixture(scope="module")
def booted_kernel():
    try:
        return kernel.find_default()
    except MissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def booted_image():
    """The image `make image` builds; it is not built here, because that needs the network."""
    found = image.find_cached(image.derive_recipe([WORKLOADS.find("hackbench"), WORKLOADS.find("counters")]))
    if found is None:
        pytest.skip("the image of the demo is not in the cache: make image")
    return found


def console(booted_kernel: kernel.Kernel, booted_image: image.Image, command: str, directory: Path) -> str:
    init, archive = directory / "init", directory / "initramfs"
    source = Path(__file__).with_name("init.c")
    subprocess.run(["gcc", "-static", "-O1", f'-DCOMMAND="{command}"', "-o", init, source], check=True)
    modules = [file for name in ("nfit", "nd_pmem") for file in booted_kernel.module(name)]
    initramfs.build(init, list(dict.fromkeys(modules)), booted_kernel.guest_files(), archive)
    memory = f"memory-backend-file,id=image,mem-path={booted_image.path},share=off,size={booted_image.size_bytes}"
    qemu = tools.require("qemu-system-x86_64", "qemu-system-x86")
    arguments = "-accel tcg,thread=multi -machine pc,nvdimm=on -cpu max -smp 2 -m 512M,slots=2,maxmem=4G -no-reboot"
    arguments += " -nodefaults -display none -serial stdio -device nvdimm,memdev=image"
    boots = ["-object", memory, "-kernel", booted_kernel.vmlinux, "-initrd", archive]
    boots += ["-append", "console=ttyS0 quiet panic=-1 mitigations=off"]
    return subprocess.run(
        [qemu, *arguments.split(), *boots],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=GUEST_LIMIT_S,
        check=True,
    ).stdout


def test_image_mounts_and_its_programs_run(booted_kernel, booted_image, tmp_path):
    shown = console(
        booted_kernel, booted_image, "hackbench -l 10 -g 1 && uname -r && stat -c %U:%Y /usr/bin/env", tmp_path
    )
    assert "not inserted" not in shown
    assert "not mounted" not in shown
    assert "Time: " in shown
    assert booted_kernel.release in shown
    assert "root:1735689600" in shown
    assert "status 0" in shown


def test_what_a_guest_writes_is_gone_afterwards(booted_kernel, booted_image, tmp_path):
    first = console(
        booted_kernel, booted_image, "test ! -e /written && echo x > /written && sync && cat /written", tmp_path
    )
    assert "status 0" in first
    second = console(booted_kernel, booted_image, "test ! -e /written", tmp_path)
    assert "status 0" in second
