"""ffmpeg, render and lrzip really do their work in a guest: whole clips, and archives that unpack again."""

from typing import Any

import pytest
from command import run, samples

from runoff.engines.lab import image
from runoff.workloads import WORKLOADS

pytestmark = [pytest.mark.lab]

TREE = "/usr/src/e2fsprogs/lib/et"
FRAMES = 25
UNPACKS = """
title = "unpacked again"
description = "What lrzip has packed is unpacked and compared, and the frames of a clip are counted."
command = ["sh", "-ec", '''
tar -cf tree.tar -C TREE . && lrzip -Q -f -N 0 -L 1 -w 1 -p 2 -m 30 tree.tar
cp tree.tar before.tar && rm tree.tar && lrzip -Q -d tree.tar.lrz && cmp tree.tar before.tar && echo same 1
ffmpeg -nostdin -loglevel error -stream_loop -1 -i /usr/share/runoff/clip.mkv -c copy -frames:v 275 long.mkv
ffprobe -loglevel error -count_packets -show_entries stream=nb_read_packets -of default=nw=1 long.mkv
''']
[metrics.same]
pattern = 'same ([0-9]+)'
unit = ""
direction = "none"
title = "t"
[metrics.packets]
pattern = 'nb_read_packets=([0-9]+)'
unit = ""
direction = "none"
title = "t"
"""


WORKS = {
    "encoded": "ffmpeg:seconds=1,threads=2,output=h264fast",
    "decoded": "ffmpeg:seconds=1,threads=2,output=none",
    "rendered": "render:seconds=1,threads=2,preset=ultrafast",
    "packed": f"lrzip:tree={TREE},threads=2,level=1",
    "unpacked": "unpacks",
}
Metrics = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, lab_kernel, absent) -> dict[str, Metrics]:
    """Metrics by arm and what was done."""
    if image.find_cached(image.derive_recipe([WORKLOADS.find(name) for name in ("ffmpeg", "render", "lrzip")])) is None:
        absent("the image is not in the cache: runoff image build --work ffmpeg --work render --work lrzip")
    folder = tmp_path_factory.mktemp("media")
    own = folder / "unpacks.toml"
    own.write_text(UNPACKS.replace("TREE", TREE))
    works = {**WORKS, "unpacked": str(own)}
    words: list[Any] = [word for work in works.values() for word in ("--work", work)]
    machine = ("--clock", "real", "--cpus", "2", "--memory", "1024")
    document = run(
        "compare", "--seed", "1", "default", "bfs", *words, *machine, "--blocks", "1", "--out", folder / "c", "--json"
    )
    names = {label: name for name, label in WORKS.items()}
    found: dict[str, Metrics] = {"default": {}, "bfs": {}}
    for sample in samples(document.stdout).values():
        assert sample["valid"], sample
        found[sample["arm"]][names[sample["workload"]]] = sample["metrics"]
    return found


@pytest.fixture(params=["default", "bfs"])
def metrics(request: pytest.FixtureRequest, done: dict[str, Metrics]) -> Metrics:
    """The samples of one arm."""
    return done[request.param]


def test_every_frame_is_read_and_written(metrics: Metrics) -> None:
    assert metrics["encoded"]["frames"] == metrics["decoded"]["frames"] == FRAMES
    assert metrics["encoded"]["size_bytes"] > 1000
    assert "size_bytes" not in metrics["decoded"]
    assert metrics["decoded"]["user_s"] < metrics["encoded"]["user_s"]


def test_a_clip_of_any_length_is_made_of_the_ten_seconds(metrics: Metrics) -> None:
    assert metrics["unpacked"]["packets"] == 11 * FRAMES


def test_a_render_is_looked_at_from_its_start_to_its_end(metrics: Metrics) -> None:
    rendered = metrics["rendered"]
    assert rendered["frames"] == FRAMES
    assert 0 < rendered["completion_s"] <= rendered["elapsed_s"]
    assert all(rendered[f"estimate_{mark}_s"] > 0 for mark in (10, 25, 50, 75))
    # Three quarters are done before all is.
    assert 0.75 * rendered["estimate_75_s"] <= rendered["completion_s"]
    assert rendered["cpu_min_pct"] <= rendered["cpu_p5_pct"] <= rendered["cpu_mean_pct"] <= 210
    assert 0 < rendered["cpu_looks"] <= 10 * rendered["completion_s"]


def test_what_lrzip_has_packed_can_be_unpacked(metrics: Metrics) -> None:
    assert 0 < metrics["packed"]["result_bytes"] < metrics["packed"]["archive_bytes"]
    assert metrics["unpacked"]["same"] == 1


def test_the_work_is_the_same_under_each_scheduler(done: dict[str, Metrics]) -> None:
    assert done["default"]["encoded"]["size_bytes"] == done["bfs"]["encoded"]["size_bytes"]
    for name in ("result_bytes", "archive_bytes"):
        assert done["default"]["packed"][name] == done["bfs"]["packed"][name]
