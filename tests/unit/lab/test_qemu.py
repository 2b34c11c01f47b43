"""QEMU's command line says what the clock promises."""

from dataclasses import replace
from pathlib import Path

from runoff.engines.lab.qemu import Machine, SnapshotFiles, build_command, build_kernel_command_line
from runoff.plan.topology import parse_topology

REAL = Machine(Path("k"), Path("i"), Path("c,1"), cpus=2, memory_mb=512, clock="real", accelerator="tcg")
VIRTUAL = replace(REAL, cpus=1, clock="virtual", seed=7)


def test_the_virtual_clock_shuts_every_door_to_the_outside() -> None:
    words = build_command(VIRTUAL)
    text = " ".join(words)
    assert "-icount shift=0,sleep=off" in text
    assert "-rtc clock=vm,base=2026-01-01" in text
    assert "-seed 7" in text
    assert "max,-rdrand,-rdseed" in words
    assert "virtio" not in text
    assert "net" not in text
    assert "nokaslr" in build_kernel_command_line(VIRTUAL)


def test_the_real_clock_runs_cpus_side_by_side() -> None:
    text = " ".join(build_command(REAL))
    assert "tcg,thread=multi" in text
    assert "icount" not in text
    assert " ".join(build_command(replace(REAL, accelerator="kvm"))).count("-accel kvm") == 1


def test_the_console_hears_the_kernel_warn() -> None:
    # The level of a warning is 4, and what is shown is below the limit.
    assert "loglevel=5" in build_kernel_command_line(REAL).split()
    assert "quiet" not in build_kernel_command_line(REAL).split()


def test_an_image_is_private_to_the_run(tmp_path: Path) -> None:
    image = tmp_path / "image.ext4"
    image.write_bytes(bytes(4096))
    text = " ".join(build_command(replace(REAL, image=image)))
    assert "share=off,size=4096" in text
    assert "nvdimm=on" in text


def test_a_copy_differs_from_the_kept_guest_in_nothing_that_the_guest_could_see() -> None:
    kept = replace(VIRTUAL, keeping=SnapshotFiles(Path("r"), Path("o"), 5, writes=True, goes_on=False))
    copy = replace(VIRTUAL, keeping=SnapshotFiles(Path("r"), Path("o"), 5, writes=False, goes_on=True))
    words = " ".join(build_command(kept)).replace("share=on", "share=off") + " -incoming defer"
    assert words == " ".join(build_command(copy))
    assert "share=off" in words
    assert "watchdog" not in " ".join(build_command(VIRTUAL))


def test_cpus_work_in_parallel_where_there_is_a_quantum() -> None:
    text = " ".join(build_command(replace(VIRTUAL, cpus=4, quantum=500, program=Path("/own/qemu"))))
    assert "-icount shift=0,sleep=off,quantum=500" in text
    assert text.startswith("/own/qemu ")
    assert "quantum=500,budget=61500 " in " ".join(build_command(replace(VIRTUAL, quantum=500, budget_s=61.5)))
    assert "quantum" not in " ".join(build_command(VIRTUAL))


def test_nodes_have_their_cpus_and_all_of_the_memory() -> None:
    topology = parse_topology("sockets=3,cores=2,nodes=3,distance=31")
    machine = replace(REAL, cpus=6, memory_mb=513, topology=topology)
    text = " ".join(build_command(machine))
    assert "-smp 6,sockets=3,cores=2,threads=1 " in text
    assert machine.banks == {"ram0": 171, "ram1": 171, "ram2": 171}
    assert sum(replace(machine, memory_mb=514).banks.values()) == 514
    for node, cpus in enumerate(("0-1", "2-3", "4-5")):
        assert f"node,nodeid={node},cpus={cpus},memdev=ram{node}" in text
    assert [word for word in build_command(machine) if word.startswith("dist,")] == [
        "dist,src=0,dst=1,val=31",
        "dist,src=0,dst=2,val=31",
        "dist,src=1,dst=2,val=31",
    ]


def test_a_kept_guest_with_nodes_keeps_the_memory_of_each() -> None:
    machine = replace(VIRTUAL, cpus=2, topology=parse_topology("sockets=2,nodes=2"))
    text = " ".join(
        build_command(replace(machine, keeping=SnapshotFiles(Path("/r"), Path("o"), 5, writes=True, goes_on=False)))
    )
    assert "memory-backend=" not in text
    assert "id=ram0,mem-path=/r/ram0,share=on" in text
    assert "id=ram1,mem-path=/r/ram1,share=on" in text


def test_threads_need_an_intel_cpu() -> None:
    assert "vendor" not in " ".join(build_command(replace(REAL, topology=parse_topology("cores=2"))))
    assert "max,vendor=GenuineIntel" in build_command(replace(REAL, topology=parse_topology("threads=2")))


def test_commas_in_paths_survive() -> None:
    assert "file:c,,1" in build_command(REAL)
