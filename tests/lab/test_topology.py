"""The guest's kernel sees the sockets, threads and NUMA nodes that were asked for."""

import json
from pathlib import Path

import pytest
from command import run, samples

pytestmark = [pytest.mark.lab]

WORK = """
title = "what the kernel says of its CPUs"
description = "Each fact is 1 where it is as it was asked for."
command = ["sh", "-c", '''
cd /sys/devices/system
is() { found=$(cat "$2"); [ "$found" = "$3" ] && echo "$1:1" || echo "$1:0 $found"; }
is nodes node/online 0-1
is second_node node/node1/cpulist 2-3
is distance node/node1/distance "30 10"
is package cpu/cpu2/topology/physical_package_id 1
is threads cpu/cpu1/topology/thread_siblings_list 0-1
is cache cpu/cpu3/cache/index3/shared_cpu_list 2-3
''']
timeout_s = 60
"""

FACTS = ("nodes", "second_node", "distance", "package", "threads", "cache")

METRIC = """
[metrics.{name}]
pattern = '{name}:(.*)'
unit = "1"
direction = "higher"
title = "{name}"
"""


def test_the_kernel_sees_sockets_threads_and_nodes(tmp_path: Path, lab_image, own_qemu) -> None:
    work = tmp_path / "topology.toml"
    work.write_text(WORK + "".join(METRIC.format(name=name) for name in FACTS))
    topology = "sockets=2,threads=2,nodes=2,distance=30"
    words = ("--work", work, "--work", "hackbench:groups=1,loops=2", "--package", "rt-tests", "--memory", "512")
    done = run(
        "compare", "default", "bfs", *words, "--clock", "virtual", "--topology", topology, "--blocks", "1",
        "--seed", "1", "--out", tmp_path / "c", "--json",
    )  # fmt: skip
    for sample in samples(done.stdout).values():
        assert sample["valid"], sample
        if sample["workload"] == "topology":
            assert {name: sample["metrics"][name] for name in FACTS} == dict.fromkeys(FACTS, 1)
    document = json.loads(done.stdout)
    assert document["fingerprint"]["qemu"]["topology"] == topology
    assert "--cpus 4" in document["rerun"]
