"""Files of others are read within limits, and what is wrong with one is an error that can be told in a sentence."""

import gzip
import os
from pathlib import Path

import pytest

from runoff.reading import decode, does_exist, parse_json, parse_toml, read_named, read_own, unpack_gzip

MIB = 1 << 20


def test_no_link_pipe_or_device_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("keep")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert read_own(tmp_path / "file") == read_named(tmp_path / "link") == b"keep"
    for name, why in (("link", "symbolic links"), ("pipe", "not a file"), ("folder", "directory|not a file")):
        with pytest.raises(OSError, match=why):
            read_own(tmp_path / name)
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match="not a file"):
            read_named(Path(device))


def test_no_more_is_read_than_may_be(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 << 40)
    for read in (read_own, read_named):
        with pytest.raises(OSError, match="it has more than 256 MiB"):
            read(tmp_path / "sparse")
    (tmp_path / "full").write_bytes(b"x" * MIB)
    assert len(read_own(tmp_path / "full", MIB)) == MIB
    (tmp_path / "full").write_bytes(b"x" * (MIB + 1))
    with pytest.raises(OSError, match="more than 1 MiB"):
        read_own(tmp_path / "full", MIB)
    # A file of /proc states no size.
    assert read_named(Path("/proc/self/status")).startswith(b"Name:")


@pytest.mark.parametrize(
    ("content", "why"), [(b"\xff\xfe1\x002\x00", "not text in UTF-8"), (b"a\0b", "has NUL"), (b"\xe9t\xe9", "UTF-8")]
)
def test_what_is_not_text_is_told(content: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(content)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode("\ufeffa,b".encode()) == "a,b"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "too deep"),
        ('{"a":' * 100_000, "too deep"),
        ('{"a": "\\ud800"}', "half a surrogate pair"),
        ('{"\\udfff": 1}', "half a surrogate pair"),
        ("[1, 2", "not whole JSON"),
        ("9" * 5000, "not whole JSON"),
    ],
)
def test_json_that_is_broken_deep_or_not_unicode_is_told(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "\U0001f600"


def test_toml_that_is_deep_is_told() -> None:
    with pytest.raises(ValueError, match="too deep"):
        parse_toml("a = " + "[" * 100_000)


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000, "a\0b", "missing"])
def test_a_name_that_no_file_can_have_is_not_there(tmp_path: Path, name: str) -> None:
    assert not does_exist(tmp_path / name)


def test_what_is_packed_is_whole_and_no_more_than_may_be() -> None:
    packed = gzip.compress(b"x" * 1000)
    assert unpack_gzip(packed, 1000) == b"x" * 1000
    for content, most, why in (
        (packed, 999, "more than 0 MiB"),
        (gzip.compress(bytes(64 * MIB)), MIB, "more than 1 MiB"),
        (packed[:-9], 1000, "its end is missing"),
        (packed[:-8] + bytes(8), 1000, "not packed by gzip"),
        (b"plain", 1000, "not packed by gzip"),
        (b"", 1000, "its end is missing"),
    ):
        with pytest.raises(ValueError, match=why):
            unpack_gzip(content, most)
