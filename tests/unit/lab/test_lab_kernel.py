"""The kernel store: names, versions, modules."""

import dataclasses
import hashlib
import lzma
from pathlib import Path

import pytest
from click.testing import CliRunner

from runoff.cli.kernel import command
from runoff.engines.lab import kernel, kernel_sources
from runoff.engines.lab.modules import Modules
from runoff.errors import MissingError, UsageError

RELEASES = ["6.12.107+deb13-cloud-amd64", "7.2.9+deb13-cloud-amd64", "7.2.12+deb13-cloud-amd64", "6.1.0-41-amd64"]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path))
    for release in RELEASES:
        put(f"debian:{release}", release, sched_ext=not release.startswith("6.1"))
    put("host:7.9.0", "7.9.0", sched_ext=True)
    return tmp_path


def put(name: str, release: str, sched_ext: bool) -> None:
    directory = kernel.directory_of(name)
    directory.mkdir(parents=True)
    (directory / "vmlinux").write_bytes(b"\x7fELF")
    meta = kernel.Meta(name, release, "1", sched_ext, True, 250, True, "00", "00", None, {})
    kernel.write_meta(directory, meta)


@pytest.mark.parametrize(("file", "kept"), [("vmlinux", "sha256"), ("config", "config_sha256")])
def test_a_kernel_is_held_against_its_digest_where_it_is_used(store, file, kept):
    """Whatever changes it, and however small: also while a campaign runs."""
    found = kernel.find("debian:7.2.9")
    contents = {"vmlinux": b"\x7fELF Linux version", "config": b"CONFIG_HZ=250\n"}
    for name, content in contents.items():
        (found.directory / name).write_bytes(content)
    known = {"sha256": "vmlinux", "config_sha256": "config"}
    digests = {key: hashlib.sha256(contents[name]).hexdigest() for key, name in known.items()}
    whole = kernel.Kernel(dataclasses.replace(found.meta, **digests), found.directory)
    whole.require_whole()
    damaged = bytearray(contents[file])
    damaged[3] ^= 1
    (found.directory / file).write_bytes(damaged)
    with pytest.raises(MissingError) as caught:
        whole.require_whole()
    name = "debian:7.2.9+deb13-cloud-amd64"
    assert str(caught.value).startswith(f"the kernel {name} is damaged ({found.directory / file}: its sha256 was ")
    assert str(caught.value).endswith(f"runoff kernel remove {name}, then runoff kernel add {name}")
    (found.directory / file).write_bytes(contents[file])
    whole.require_whole()
    (found.directory / "vmlinux").unlink()
    with pytest.raises(MissingError, match="not to be had: No such file"):
        whole.require_whole()


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("debian", "7.2.12+deb13-cloud-amd64"),
        ("debian:7.2", "7.2.12+deb13-cloud-amd64"),
        ("debian:7.2.9", "7.2.9+deb13-cloud-amd64"),
        ("debian:6.1", "6.1.0-41-amd64"),
        ("debian:6.12.107+deb13-cloud-amd64", "6.12.107+deb13-cloud-amd64"),
        ("host", "7.9.0"),
    ],
)
def test_find_takes_the_newest_that_fits(store, name, release):
    assert kernel.find(name).release == release


@pytest.mark.parametrize("name", ["debian:7.2.1", "debian:8", "file"])
def test_find_says_how_to_add_a_missing_kernel(store, name):
    with pytest.raises(MissingError) as caught:
        kernel.find(name)
    assert caught.value.hint == ("kernel", "add", name)


def test_find_names_the_kernels_that_there_are_for_a_name_of_no_kind(store):
    with pytest.raises(MissingError, match=r"^the lab has no kernel nope; there are: .*debian:7\.2\.12"):
        kernel.find("nope")


def test_default_is_the_distributions_newest_with_sched_ext(store):
    assert kernel.find_default().release == "7.2.12+deb13-cloud-amd64"


def test_default_refuses_kernels_without_sched_ext(store):
    for release in RELEASES[1:3]:
        kernel.remove(f"debian:{release}")
    kernel.remove("host")
    with pytest.raises(MissingError) as caught:
        kernel.find_default()
    assert caught.value.hint == ("kernel", "add", "debian")
    assert len(kernel.list_stored()) == 2


def test_kernel_of_another_layout_is_not_offered(store):
    meta = kernel.directory_of("host:7.9.0") / "meta.json"
    meta.write_text(meta.read_text().replace(f'"format": {kernel.FORMAT}', '"format": 0'))
    with pytest.raises(MissingError):
        kernel.find("host")


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"format": 2}', '{"format": 2, "name": "host:7.9.0", "sched_ext_": 1}']
)
def test_leftovers_of_another_version_or_an_accident_are_not_a_kernel(store, damage):
    directory = kernel.directory_of("host:7.9.0")
    (directory / "meta.json").write_text(damage)
    assert not kernel.is_whole(directory)
    with pytest.raises(MissingError, match="the lab has no kernel host"):
        kernel.find("host")
    assert len(kernel.list_stored()) == len(RELEASES)


def test_offered_kernels_are_whole_and_ordered_as_numbers():
    names = [
        "linux-image-6.9.1+deb13-cloud-amd64",
        "linux-image-6.18.15+deb13-cloud-amd64",
        "linux-image-7.0.13+deb13-cloud-amd64",
        "linux-binary-7.0.13+deb13-cloud-amd64",
        *(f"linux-{part}-7.2.9+deb13-cloud-amd64" for part in ("image", "binary", "modules", "base")),
        *(f"linux-{part}-7.2.12+deb13-cloud-amd64" for part in ("image", "binary", "modules", "base")),
        *(f"linux-{part}-7.3.4+deb13-cloud-amd64" for part in ("binary-unsigned", "modules", "base")),
        "linux-image-cloud-amd64",
        "linux-image-6.18.15+deb13-cloud-amd64-dbg",
    ]
    offered = kernel_sources.find_offered(names)
    assert list(offered) == [
        "7.3.4+deb13-cloud-amd64",
        "7.2.12+deb13-cloud-amd64",
        "7.2.9+deb13-cloud-amd64",
        "6.18.15+deb13-cloud-amd64",
        "6.9.1+deb13-cloud-amd64",
    ]
    assert offered["6.18.15+deb13-cloud-amd64"] == ["linux-image-6.18.15+deb13-cloud-amd64"]
    assert "linux-binary-unsigned-7.3.4+deb13-cloud-amd64" in offered["7.3.4+deb13-cloud-amd64"]
    assert [next(iter(series))[:4] for series in kernel_sources.group_by_series(offered)] == [
        "7.3.",
        "7.2.",
        "6.18",
        "6.9.",
    ]
    assert "7.2.12+deb13-cloud-amd64" in [next(iter(series)) for series in kernel_sources.group_by_series(offered)]
    assert kernel_sources.find_incomplete(names) == {
        "7.0.13+deb13-cloud-amd64": ["linux-modules-7.0.13+deb13-cloud-amd64", "linux-base-7.0.13+deb13-cloud-amd64"]
    }


@pytest.mark.parametrize("spec", ["", "debain", "host:6.1", "file:", "file:vmlinuz,module=x"])
def test_add_refuses_a_file_that_is_not_a_kernel(store, spec):
    with pytest.raises(UsageError, match="file:VMLINUZ"):
        kernel_sources.add(spec, mirror=None, progress=print)


def test_add_file_names_the_missing_file(store):
    with pytest.raises(MissingError, match="nowhere"):
        kernel_sources.add("file:/nowhere/vmlinuz", mirror=None, progress=print)


def test_add_file_keeps_config_and_replaces_a_changed_image(store, tmp_path):
    image = tmp_path / "boot/vmlinux"
    image.parent.mkdir()
    (image.parent / "config").write_text(
        "CONFIG_HZ=1000\nCONFIG_SCHED_CLASS_EXT=y\n# CONFIG_DEBUG_INFO_BTF is not set\n"
    )
    image.write_bytes(b"\x7fELF Linux version 6.13.1-own (me@here) 1")
    first = kernel_sources.add(f"file:{image}", mirror=None, progress=print)
    assert (first.name, first.meta.hz, first.sched_ext, first.btf) == ("file:6.13.1-own", 1000, True, False)
    assert first.guest_files() == {"/boot/config-6.13.1-own": first.config}
    image.write_bytes(image.read_bytes() + b" rebuilt")
    assert kernel_sources.add(f"file:{image}", mirror=None, progress=print).sha256 != first.sha256


def module_tree(directory: Path) -> Modules:
    tree = directory / "lib/modules/7.2.12"
    (tree / "kernel").mkdir(parents=True)
    for name in ("nd_pmem", "nd_btt", "libnvdimm"):
        (tree / f"kernel/{name}.ko.xz").write_bytes(lzma.compress(name.encode()))
    (tree / "modules.dep").write_text(
        "kernel/libnvdimm.ko.xz:\n"
        "kernel/nd_btt.ko.xz: kernel/libnvdimm.ko.xz\n"
        "kernel/nd_pmem.ko.xz: kernel/nd_btt.ko.xz kernel/libnvdimm.ko.xz\n"
    )
    (tree / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\n")
    return Modules(tree, directory / "ko")


def test_modules_come_unpacked_and_in_the_order_to_insert_them(tmp_path):
    files = module_tree(tmp_path).files("nd-pmem")
    assert [file.name for file in files] == ["libnvdimm.ko", "nd_btt.ko", "nd_pmem.ko"]
    assert files[-1].read_bytes() == b"nd_pmem"


def test_a_damaged_copy_of_a_module_is_made_again_and_a_damaged_module_is_named(tmp_path):
    found = module_tree(tmp_path)
    (copy,) = [path for path in found.files("nd_btt") if path.name == "nd_btt.ko"]
    content = copy.read_bytes()
    copy.write_bytes(content + b"x")
    found.files("nd_btt")
    assert copy.read_bytes() == content
    (packed,) = tmp_path.rglob("nd_btt.ko.xz")
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(MissingError, match=r"nd_btt\.ko\.xz is damaged"):
        found.files("nd_btt")


def test_builtin_module_needs_nothing_and_a_missing_one_is_named(tmp_path):
    modules = module_tree(tmp_path)
    assert modules.files("ext4") == []
    with pytest.raises(MissingError, match="has no module ublk_drv"):
        modules.files("ublk_drv")


def test_why_no_scheduler_can_be_attached_is_in_the_line_of_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path))
    for release, objection in (("7.2.12", "its types are wrong"), ("7.3.4", None)):
        directory = kernel.directory_of(f"debian:{release}")
        directory.mkdir(parents=True)
        meta = kernel.Meta(f"debian:{release}", release, "1", True, True, 250, True, "00", "00", objection, {})
        kernel.write_meta(directory, meta)
    whole, wrong = CliRunner().invoke(command, ["list"]).stdout.splitlines()
    assert whole == "debian:7.3.4  sched_ext: yes  BTF: yes  250 Hz"
    assert wrong == whole.replace("7.3.4", "7.2.12").replace("yes", "no", 1) + (
        "  no scheduler can be attached: its types are wrong"
    )
