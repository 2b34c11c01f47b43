"""What is read takes room for its content, and not for the limit."""

import tracemalloc
from pathlib import Path

from runoff.reading import LARGEST_COPY_BYTES, MIB, read_own


def test_a_small_file_is_read_on_a_machine_with_less_memory_than_the_limit(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(bytes(2 * MIB))
    tracemalloc.start()
    content = read_own(tmp_path / "journal", LARGEST_COPY_BYTES)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(content) == 2 * MIB
    assert peak < 16 * MIB
