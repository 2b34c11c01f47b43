"""A sparse file's digest is of its content, wherever its holes are."""

from pathlib import Path

from runoff.engines import sparse

BLOCK = sparse.BLOCK_BYTES


def written(path: Path, size: int, parts: dict[int, bytes], *, zeros: bool = False) -> Path:
    with path.open("wb") as file:
        file.write(bytes(size)) if zeros else file.truncate(size)
        for offset, content in parts.items():
            file.seek(offset)
            file.write(content)
    return path


def test_holes_and_zeros_are_the_same(tmp_path: Path) -> None:
    parts = {5 * BLOCK + 7: b"x", 90 * BLOCK: b"end"}
    with_holes = written(tmp_path / "a", 100 * BLOCK + 3, parts)
    without = written(tmp_path / "b", 100 * BLOCK + 3, parts, zeros=True)
    assert sparse.sha256(with_holes) == sparse.sha256(without)
    assert [offset for offset, _ in sparse.read_blocks(without)] == [5 * BLOCK, 90 * BLOCK]


def test_every_block_is_read_once_wherever_the_holes_are(tmp_path: Path) -> None:
    size = 4 * BLOCK
    path = written(tmp_path / "a", 40 * BLOCK, {n * 2 * BLOCK: bytes([n + 1]) for n in range(9)})
    found = dict(sparse.read_blocks(path, size))
    assert list(found) == [0, size, 2 * size, 3 * size, 4 * size]
    content = path.read_bytes()
    assert all(content[offset : offset + size] == block for offset, block in found.items())
    assert len(list(sparse.read_blocks(path, size))) == len(found)


def test_place_length_and_content_count(tmp_path: Path) -> None:
    size = 10 * BLOCK
    files = [
        written(tmp_path / "a", size, {BLOCK: b"x"}),
        written(tmp_path / "b", size, {2 * BLOCK: b"x"}),
        written(tmp_path / "c", size, {BLOCK: b"y"}),
        written(tmp_path / "d", size + 1, {BLOCK: b"x"}),
        written(tmp_path / "e", size, {}),
        written(tmp_path / "f", size - 1, {}),
    ]
    assert len({sparse.sha256(file) for file in files}) == len(files)


def test_a_file_without_data_has_no_blocks(tmp_path: Path) -> None:
    assert list(sparse.read_blocks(written(tmp_path / "a", 1 << 30, {}))) == []
    assert list(sparse.read_blocks(written(tmp_path / "b", 0, {}))) == []


def test_the_end_of_a_file_is_read_though_it_fills_no_block(tmp_path: Path) -> None:
    ((offset, block),) = sparse.read_blocks(written(tmp_path / "a", 0, {BLOCK: b"end"}))
    assert (offset, block) == (BLOCK, b"end")
