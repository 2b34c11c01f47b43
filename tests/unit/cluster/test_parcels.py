"""What travels to workers arrives whole, once, or not at all."""

import os
import time
from pathlib import Path

import pytest

from runoff.cluster import parcels, store
from runoff.cluster.parcels import Chunk, Parcel, pack, read_messages
from runoff.engines.lab import cache
from runoff.errors import MissingError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("RUNOFF_CACHE", str(place))
    return place


def make_tree(folder: Path) -> Path:
    tree = folder / "there" / "kernel"
    (tree / "lib/deep").mkdir(parents=True)
    (tree / "ko").mkdir()
    (tree / "lib/deep/module.ko.xz").write_bytes(os.urandom(70_000))
    (tree / "ko/module.ko").write_bytes(b"unpacked")
    (tree / "program").write_bytes(b"#!/bin/sh\n")
    (tree / "program").chmod(0o755)
    (tree / "empty").touch()
    with (tree / "ram").open("wb") as sparse:
        sparse.seek(5 << 20)
        sparse.write(b"in the middle of nothing")
        sparse.truncate(64 << 20)
    return tree


def send(parcel: Parcel, sender: str = "me") -> None:
    store.begin(parcel, sender)
    for message in read_messages(parcel):
        store.write(parcel, sender, message)
    store.finish(parcel, sender)


def test_a_directory_arrives_with_its_holes_and_modes_and_without_what_is_made_again(tmp_path: Path, own_cache: Path):
    tree = make_tree(tmp_path)
    parcel = pack(tree, leave_out=("ko",))
    wanted = {path.relative_to(tree): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    tree.rename(tmp_path / "gone")
    assert store.find(parcel) is None
    parcel_here = Parcel(parcel.kind, tmp_path / "gone", parcel.files)
    store.begin(parcel, "me")
    for message in read_messages(parcel_here):
        store.write(parcel, "me", message)
    store.finish(parcel, "me")
    place = store.find(parcel)
    assert place == own_cache / "received" / parcel.digest / "kernel"
    found = {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert found == {path: content for path, content in wanted.items() if path.parts[0] != "ko"}
    assert (place / "program").stat().st_mode & 0o777 == 0o755
    assert (place / "empty").stat().st_mode & 0o777 == 0o644
    assert (place / "ram").stat().st_blocks * 512 < 1 << 20
    assert [path.name for path in (own_cache / "received").iterdir()] == [parcel.digest]


def test_what_is_at_the_same_place_already_is_not_sent(tmp_path: Path):
    tree = make_tree(tmp_path)
    parcel = pack(tree)
    assert store.find(parcel) == tree
    (tree / "program").write_bytes(b"#!/bin/sh -e\n")
    assert store.find(parcel) is None


def test_a_parcel_that_was_changed_in_the_cache_is_received_again(tmp_path: Path, own_cache: Path):
    program = tmp_path / "agent"
    program.write_bytes(b"agent")
    program.chmod(0o755)
    parcel = pack(program)
    send(parcel)
    program.unlink()
    kept = own_cache / "received" / parcel.digest / "agent"
    assert store.find(parcel) == kept
    kept.write_bytes(b"tnega")
    assert store.find(parcel) is None
    program.write_bytes(b"agent")
    send(parcel)
    program.unlink()
    assert store.find(parcel) == kept


@pytest.mark.parametrize("wrong", ["cut", "changed", "nothing"])
def test_what_did_not_arrive_whole_is_refused_and_leaves_nothing(tmp_path: Path, own_cache: Path, wrong: str):
    file = tmp_path / "vmlinux"
    file.write_bytes(os.urandom(2 * parcels.MESSAGE_CHUNKS * parcels.CHUNK_BYTES))
    parcel = pack(file)
    messages = list(read_messages(parcel))
    store.begin(parcel, "me")
    for number, message in enumerate(messages):
        if (wrong == "cut" and number == len(messages) - 1) or wrong == "nothing":
            continue
        first, *others = message
        changed = Chunk(first.file, first.offset, bytes(len(first.content))) if wrong == "changed" else first
        store.write(parcel, "me", [changed, *others])
    with pytest.raises(MissingError, match="vmlinux did not arrive as it was sent"):
        store.finish(parcel, "me")
    assert not list((own_cache / "received").iterdir())


def test_two_senders_of_one_parcel_do_not_disturb_each_other(tmp_path: Path, own_cache: Path):
    file = tmp_path / "image"
    file.write_bytes(os.urandom(100_000))
    parcel = pack(file)
    for sender in ("one", "two"):
        store.begin(parcel, sender)
    for message in read_messages(parcel):
        store.write(parcel, "one", message)
        store.write(parcel, "two", message)
    store.finish(parcel, "one")
    store.finish(parcel, "two")
    assert [path.name for path in (own_cache / "received").iterdir()] == [parcel.digest]


def test_a_snapshot_has_its_place_by_its_name(tmp_path: Path, own_cache: Path):
    folder = tmp_path / "0123456789abcdef"
    folder.mkdir()
    (folder / "state").write_bytes(b"state")
    parcel = pack(folder, "snapshot")
    assert store.find(parcel) is None
    send(parcel)
    assert store.find(parcel) == cache.snapshots() / folder.name
    send(parcel)
    assert not list((own_cache / "received").iterdir())


def test_without_room_nothing_is_begun(tmp_path: Path, own_cache: Path):
    file = tmp_path / "huge"
    with pytest.raises(MissingError, match="MB are needed"):
        store.begin(Parcel("supply", file, (parcels.ParcelFile("", "0" * 64, 1 << 50, False),)), "me")
    assert not list((own_cache / "received").iterdir())


def test_the_oldest_are_removed_when_there_are_many(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "MOST_BYTES", 250_000)
    sent = []
    for number in range(3):
        file = tmp_path / f"file-{number}"
        file.write_bytes(os.urandom(100_000))
        sent.append(pack(file))
        send(sent[-1])
        file.unlink()
        old = 2 * store.IN_USE_S - number
        os.utime(own_cache / "received" / sent[-1].digest, (time.time() - old,) * 2)
    (own_cache / "received" / ".left.part").mkdir()
    os.utime(own_cache / "received" / ".left.part", (0, 0))
    newest = tmp_path / "newest"
    newest.write_bytes(b"1")
    send(pack(newest))
    names = {path.name for path in (own_cache / "received").iterdir()}
    assert sent[0].digest not in names
    assert {sent[1].digest, sent[2].digest} <= names
    assert ".left.part" not in names


def test_a_digest_is_of_names_and_content_but_not_of_the_place(tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"content")
    one, two = (pack(tmp_path / name / "file") for name in ("one", "two"))
    assert one.digest == two.digest
    (tmp_path / "two" / "file").chmod(0o755)
    assert pack(tmp_path / "two" / "file").digest != one.digest


def test_what_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(MissingError, match="none: No such file"):
        pack(tmp_path / "none")
