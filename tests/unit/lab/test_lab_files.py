"""The guest's archive and images, checked by the programs that read them (cpio, e2fsprogs), and its console."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runoff.engines import ext4, tools
from runoff.engines.lab import guest, initramfs, libraries, rootfs
from runoff.errors import MissingError, RunoffError, UsageError

needs_e2fsprogs = pytest.mark.skipif(tools.locate("mke2fs") is None, reason="no e2fsprogs on this machine")


@pytest.fixture
def agent(tmp_path):
    path = tmp_path / "agent"
    path.write_bytes(b"\x7fELF agent")
    return path


def names_in(archive: Path) -> list[str]:
    listing = subprocess.run(
        ["cpio", "-t", "--quiet"], stdin=archive.open("rb"), capture_output=True, text=True, check=True
    )
    return listing.stdout.split()


@pytest.mark.skipif(shutil.which("cpio") is None, reason="no cpio on this machine")
def test_cpio_reads_the_archive(agent, tmp_path):
    out = tmp_path / "initramfs"
    module = tmp_path / "nd_pmem.ko"
    module.write_bytes(b"module")
    files = {"/boot.json": b"{}", "/etc/deep/er": b"x"}
    programs = libraries.add_libraries({"/programs/0/ls": Path("/bin/ls")})
    initramfs.build(agent, [module], files, out, programs=programs)
    names = names_in(out)
    assert {"init", "modules/nd_pmem.ko", "modules/order", "boot.json", "etc", "etc/deep", "etc/deep/er"} <= set(names)
    assert "programs/0/ls" in names
    assert any("libc.so" in name for name in names)
    assert names.index("etc") < names.index("etc/deep") < names.index("etc/deep/er")


def test_archive_depends_on_content_only(agent, tmp_path):
    initramfs.build(agent, [], {"/b": b"1", "/a": b"2"}, tmp_path / "first")
    os.utime(agent, (1, 1))
    agent.chmod(0o600)
    initramfs.build(agent, [], {"/a": b"2", "/b": b"1"}, tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    initramfs.build(agent, [], {"/a": b"2", "/b": b"0"}, tmp_path / "third")
    assert (tmp_path / "first").read_bytes() != (tmp_path / "third").read_bytes()


@pytest.mark.parametrize("path", ["boot.json", "/a/../b"])
def test_guest_paths_are_absolute(agent, tmp_path, path):
    with pytest.raises(UsageError, match="absolute"):
        initramfs.build(agent, [], {path: b""}, tmp_path / "out")


def test_missing_program_is_named(agent, tmp_path):
    with pytest.raises(MissingError, match="scx_none"):
        libraries.add_libraries({"/programs/0/scx_none": tmp_path / "scx_none"})


def small_tree(directory: Path) -> Path:
    (directory / "usr/bin").mkdir(parents=True)
    (directory / "usr/bin/tool").write_bytes(b"tool" * 5000)
    (directory / "usr/bin/tool").chmod(0o755)
    (directory / "usr/bin/link").symlink_to("tool")
    os.link(directory / "usr/bin/tool", directory / "usr/bin/hard")
    return directory


@needs_e2fsprogs
def test_image_is_the_same_for_the_same_tree_made_at_another_time(tmp_path):
    first, second = small_tree(tmp_path / "one"), small_tree(tmp_path / "two")
    for path in second.rglob("*"):
        os.utime(path, (12345, 67890), follow_symlinks=False)
    ext4.make(first, tmp_path / "one.ext4")
    ext4.make(second, tmp_path / "two.ext4")
    assert subprocess.run(["cmp", tmp_path / "one.ext4", tmp_path / "two.ext4"], check=False).returncode == 0


def add_own_e2fsprogs(tree: Path) -> None:
    """Give a tree this machine's programs and libraries, where Debian has them."""
    names = [tools.require(name, "e2fsprogs") for name in ("mke2fs", "dumpe2fs", "debugfs")]
    listed = subprocess.run(["ldd", *names], check=True, capture_output=True, text=True).stdout
    libraries = set(re.findall(r"(/\S+\.so\S*)", listed.replace(":", "")))
    for folder, files in (("usr/sbin", names), ("usr/lib/x86_64-linux-gnu", libraries)):
        (tree / folder).mkdir(parents=True)
        for file in files:
            shutil.copy(file, tree / folder)


@needs_e2fsprogs
@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_tree_of_debian_is_written_by_its_own_programs_and_a_stranger_by_ours(tmp_path, monkeypatch, is_trusted):
    tree, image = small_tree(tmp_path / "tree"), tmp_path / "image.ext4"
    add_own_e2fsprogs(tree)
    for name in ("mke2fs", "dumpe2fs", "debugfs"):
        ours = tmp_path / "ours" / name
        ours.parent.mkdir(exist_ok=True)
        ours.write_text(f'#!/bin/sh\ntouch {tmp_path}/used\nexec {tools.require(name, "e2fsprogs")} "$@"\n')
        ours.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "ours"), prepend=os.pathsep)
    ext4.make(tree, image, is_trusted=is_trusted)
    assert (tmp_path / "used").exists() is not is_trusted
    subprocess.run([tools.require("e2fsck", "e2fsprogs"), "-fn", image], check=True, capture_output=True)


@needs_e2fsprogs
def test_defaults_of_the_machine_change_nothing(tmp_path, monkeypatch):
    first = ext4.write_blank(tmp_path / "one", 64).read_bytes()
    (tmp_path / "mke2fs.conf").write_text("[defaults]\n\tbase_features = filetype\n\tinode_ratio = 65536\n")
    monkeypatch.setenv("MKE2FS_CONFIG", str(tmp_path / "mke2fs.conf"))
    assert ext4.write_blank(tmp_path / "two", 64).read_bytes() == first


@needs_e2fsprogs
def test_image_is_whole_aligned_and_has_room(tmp_path):
    image = tmp_path / "image.ext4"
    ext4.make(small_tree(tmp_path / "tree"), image)
    assert image.stat().st_size % ext4.ALIGN_BYTES == 0
    subprocess.run([tools.require("e2fsck", "e2fsprogs"), "-fn", image], check=True, capture_output=True)
    header = subprocess.run(
        [tools.require("dumpe2fs", "e2fsprogs"), "-h", image], check=True, capture_output=True, text=True
    ).stdout
    free = next(int(line.split(":")[1]) for line in header.splitlines() if line.startswith("Free blocks"))
    assert free * 4096 >= ext4.FREE_BYTES


@needs_e2fsprogs
def test_files_belong_to_root_and_keep_their_modes(tmp_path):
    image = tmp_path / "image.ext4"
    ext4.make(small_tree(tmp_path / "tree"), image)
    shown = subprocess.run(
        [tools.require("debugfs", "e2fsprogs"), "-R", "stat /usr/bin/tool", image],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Mode:  0755" in shown
    assert "User:     0   Group:     0" in shown
    assert "Links: 2" in shown


@needs_e2fsprogs
def test_the_blocks_of_an_empty_file_system_make_it_again(tmp_path):
    records = ext4.write_blocks(tmp_path / "blocks", 64).read_bytes()
    whole = tmp_path / "whole"
    with whole.open("wb") as file:
        file.truncate(64 << 20)
        for start in range(0, len(records), 8 + 4096):
            file.seek(int.from_bytes(records[start : start + 8], "little"))
            file.write(records[start + 8 : start + 8 + 4096])
    assert len(records) < 1 << 20
    assert whole.read_bytes() == ext4.write_blank(tmp_path / "blank", 64).read_bytes()


def test_unpack_leaves_out_devices_of_the_root_only(tmp_path):
    tree = tmp_path / "root"
    (tree / "dev").mkdir(parents=True)
    (tree / "dev/gone").touch()
    (tree / "usr/src/x/dev").mkdir(parents=True)
    (tree / "usr/src/x/dev/kept").touch()
    (tree / "usr/src/x/locked").mkdir(mode=0o500)
    subprocess.run(["tar", "-C", tree, "-czf", tmp_path / "root.tar.gz", "."], check=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    unpacked = rootfs.unpack(tmp_path / "root.tar.gz", scratch)
    assert not (unpacked / "dev/gone").exists()
    assert (unpacked / "usr/src/x/dev/kept").exists()
    assert all((unpacked / point).is_dir() for point in rootfs.MOUNT_POINTS)
    shutil.rmtree(unpacked)


def test_unpack_refuses_a_tarball_that_is_not_a_root_file_system(tmp_path):
    (tmp_path / "notes").write_text("hello")
    subprocess.run(["tar", "-C", tmp_path, "-cf", tmp_path / "notes.tar", "notes"], check=True)
    with pytest.raises(RunoffError, match="not a root file system"):
        rootfs.unpack(tmp_path / "notes.tar", tmp_path)


@pytest.mark.parametrize(
    ("console", "reason"),
    [
        (
            "[ 1.2] Kernel panic - not syncing: Attempted to kill init!\n",
            "Kernel panic - not syncing: Attempted to kill init!",
        ),
        (
            "[20.3] Oops: int3: 0000 [#1] SMP NOPTI\n[20.4] Kernel panic - not syncing: Fatal exception in interrupt\n",
            guest.STALE,
        ),
        ("[ 1.0] nothing to see\n", ""),
    ],
)
def test_the_console_says_why_a_guest_died(console: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "console.txt").write_text(console)
    assert guest.find_console_reason(tmp_path / "console.txt") == reason
