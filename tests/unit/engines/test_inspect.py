"""`runoff inspect` on objects that a compiler has made of a few lines: what each kernel says to them, and why."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from bpf_objects import BODY, FOOTER, HEADER, compile_object
from cli_runner import run

from runoff.cli.inspection_memory import describe_bytes
from runoff.engines import sim
from runoff.engines.questions import describe_schedulers

SIX, SEVEN = ("6.12", "6.14", "6.16", "6.18"), ("7.0", "7.2", "7.3")
ALL = (*SIX, *SEVEN)


def look_at(folder: Path, statements: str, *, before: str = "", after: str = FOOTER) -> Mapping[str, Any]:
    source = f"{HEADER}{before}\n{BODY % statements}\n{after}"
    (found,) = sim.inspect(compile_object(folder, source))
    return found


def refusals(found: Mapping[str, Any], kind: str = "needs") -> dict[str, list[str]]:
    """What the kernels lack, by their names; kernels that lack nothing are left out."""
    return {each["kernel"]: [lack["what"] for lack in each[kind]] for each in found["kernels"] if each[kind]}


def test_a_function_that_must_be_there_decides(tmp_path: Path) -> None:
    found = look_at(tmp_path, "scx_bpf_nr_cids();", before="u32 scx_bpf_nr_cids(void) __ksym;")
    assert refusals(found) == {kernel: ["scx_bpf_nr_cids()"] for kernel in ALL[:5]}
    lack = found["kernels"][0]["needs"][0]
    assert (lack["since"], lack["function"], lack["gone_since"]) == ("7.2", "stopping", None)
    assert (Path(lack["file"]).name, lack["line"]) == ("<stdin>", HEADER.count("\n") + 2)
    assert [each["verdict"] for each in found["kernels"][4:]] == ["does_not_load", "loads", "loads"]


def test_a_function_that_may_be_missing_decides_where_it_is_called(tmp_path: Path) -> None:
    unguarded = look_at(tmp_path, "scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);")
    assert refusals(unguarded) == {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", *SEVEN)}
    assert unguarded["kernels"][-1]["needs"][0]["gone_since"] == "6.18"
    guarded = look_at(tmp_path, "if (scx_bpf_dispatch) scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);")
    assert refusals(guarded) == {}
    # What only older kernels have is not missed.
    assert refusals(guarded, "without") == {}
    newer = look_at(tmp_path, "if (scx_bpf_now) scx_bpf_now();")
    assert refusals(newer, "without") == {"6.12": ["scx_bpf_now()"]}


def test_parameters_of_functions_are_compared(tmp_path: Path) -> None:
    found = look_at(tmp_path, "bpf_cpumask_create(1, 2);", before="void *bpf_cpumask_create(u64 a, u64 b) __ksym;")
    assert refusals(found) == {kernel: ["bpf_cpumask_create() with these parameters"] for kernel in ALL}


def test_fields_that_are_missing_decide_where_they_are_read(tmp_path: Path) -> None:
    read = "volatile int cpu = ((struct scx_exit_info *)ctx[0])->exit_cpu;"
    what = "struct scx_exit_info::exit_cpu"
    assert refusals(look_at(tmp_path, read)) == {kernel: [what] for kernel in (*SIX, "7.0")}
    guarded = look_at(tmp_path, f"if (exists(((struct scx_exit_info *)0)->exit_cpu)) {{ {read} }}")
    assert refusals(guarded) == {}
    assert refusals(guarded, "without") == {kernel: [what] for kernel in (*SIX, "7.0")}
    never = look_at(tmp_path, "volatile int no = ((struct task_struct___gone *)ctx[0])->never_was;")
    assert refusals(never) == {kernel: ["struct task_struct___gone::never_was"] for kernel in ALL}
    assert never["kernels"][0]["needs"][0]["since"] is None


def test_nothing_is_said_of_what_the_descriptions_leave_out(tmp_path: Path) -> None:
    found = look_at(tmp_path, "volatile int id = ((struct request_queue *)ctx[0])->id;")
    assert refusals(found) == {}
    assert refusals(found, "without") == {}
    assert {each["kernel"]: each["unknown"] for each in found["kernels"]} == {
        kernel: ["struct request_queue::id"] for kernel in ALL
    }


def test_both_ways_are_followed_where_nothing_is_said(tmp_path: Path) -> None:
    """Whether the kernel has the field is not known, so that it may come to either call."""
    found = look_at(
        tmp_path,
        "if (exists(((struct request_queue *)0)->id)) scx_bpf_never(); else scx_bpf_either();",
        before="void scx_bpf_never(void) __ksym __weak; void scx_bpf_either(void) __ksym __weak;",
    )
    assert refusals(found) == {kernel: ["scx_bpf_either()", "scx_bpf_never()"] for kernel in ALL}


def test_variables_of_the_kernel_are_compared_by_their_type(tmp_path: Path) -> None:
    use = "void *volatile address = &runqueues;"
    assert refusals(look_at(tmp_path, use, before="extern struct rq runqueues __ksym;")) == {}
    assert refusals(look_at(tmp_path, use, before="extern const void runqueues __ksym;")) == {}
    # One that may be missing must have the type all the same.
    other = look_at(tmp_path, use, before="extern int runqueues __ksym __weak;")
    assert refusals(other) == {kernel: ["runqueues of this type"] for kernel in ALL}


def test_constants_that_a_loader_may_set_are_told_apart(tmp_path: Path) -> None:
    before = "const volatile u8 old_way = 0; const volatile s32 lowest = -3;"
    found = look_at(tmp_path, "if (old_way) scx_bpf_dispatch((void *)ctx[0], 0, 0, lowest);", before=before)
    assert refusals(found) == {}
    assert refusals(found, "depends") == {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", *SEVEN)}
    assert {(each["name"], each["type"], each["default"]) for each in found["constants"]} == {
        ("old_way", "u8", 0),
        ("lowest", "s32", -3),
    }
    on = look_at(tmp_path, "if (old_way) scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);", before=before.replace("0", "1"))
    assert refusals(on) == {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", *SEVEN)}


def test_options_of_the_configuration_and_the_version_are_known(tmp_path: Path) -> None:
    before = "extern bool CONFIG_PREEMPT_RT __kconfig __weak; extern int LINUX_KERNEL_VERSION __kconfig;"
    before = before.replace("bool", "_Bool")
    real_time = look_at(tmp_path, "if (CONFIG_PREEMPT_RT) scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);", before=before)
    assert refusals(real_time) == refusals(real_time, "depends") == {}
    old = look_at(
        tmp_path, "if (LINUX_KERNEL_VERSION < 0x070200) scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);", before=before
    )
    assert refusals(old) == {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", "7.0")}


def test_a_table_is_shown_with_what_a_kernel_has_no_use_for(tmp_path: Path) -> None:
    ops = "struct sched_ext_ops___new { void (*stopping)(void); void (*no_such_call)(void); char name[128]; };"
    table = FOOTER.replace("sched_ext_ops", "sched_ext_ops___new").replace(
        ".flags = 5", ".no_such_call = (void *)no_such_call"
    )
    extra = 'SEC("struct_ops/no_such_call") int no_such_call(u64 *ctx)'
    extra += " { scx_bpf_dispatch((void *)ctx[0], 0, 0, 0); return 0; }"
    found = look_at(tmp_path, "", before=ops + extra, after=table)
    # Its function is not loaded either.
    assert refusals(found) == {}
    assert [each["member"] for each in found["tables"][0]["callbacks"]] == ["stopping", "no_such_call"]
    number = table.replace("sched_ext_ops___new", "sched_ext_ops___two").replace(
        "no_such_call = (void *)no_such_call", "no = 1"
    )
    two = "struct sched_ext_ops___two { void (*stopping)(void); u64 no; u32 flags; char name[128]; };"
    found = look_at(tmp_path, "", before=two, after=number)
    # libbpf leaves out functions that the kernel does not call, and nothing else.
    assert refusals(found) == {kernel: ["ops.no", "ops.flags of this size"] for kernel in ALL}
    plain = look_at(tmp_path, "for (int i = 0; i < 100; i++) scx_bpf_now();", before="u64 x;")
    assert plain["tables"][0]["flags"] == ["KEEP_BUILTIN_IDLE", "ENQ_EXITING"]
    (stopping,) = plain["tables"][0]["callbacks"]
    assert (stopping["loops"], stopping["kernel_calls"]) == (1, 1)
    assert stopping["instructions"] == stopping["with_calls"] > 4


def test_functions_are_counted_with_those_that_they_call(tmp_path: Path) -> None:
    before = (
        "static __attribute__((noinline)) u64 inner(u64 x) { for (u64 i = 0; i < x; i++) scx_bpf_now(); return x; }"
    )
    found = look_at(tmp_path, "return inner(ctx[0]) + inner(ctx[1]);", before=before)
    (stopping,) = found["tables"][0]["callbacks"]
    assert stopping["with_calls"] > stopping["instructions"] + 4
    assert (stopping["loops"], stopping["kernel_calls"]) == (1, 1)


def test_our_schedulers_are_taken_by_every_kernel() -> None:
    for name in describe_schedulers():
        (found,) = json.loads(run("inspect", name, "--json").stdout)
        assert [each["kernel"] for each in found["kernels"]] == list(ALL)
        assert {each["verdict"] for each in found["kernels"]} <= {"loads", "loads_without"}
        assert found["kernels"][-1]["verdict"] == "loads"
        assert not any(each["unknown"] or each["depends"] for each in found["kernels"])


def test_one_kernel_can_be_asked_and_decides(tmp_path: Path) -> None:
    made = compile_object(tmp_path, f"{HEADER}{BODY % 'scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);'}{FOOTER}")
    refused = run("inspect", made, "--kernel", "7.3", expect=1)
    assert "Linux 7.3: does not load" in refused.stdout
    assert "needs scx_bpf_dispatch(), which is gone since 6.18, in stopping" in refused.stdout
    assert "6.14" not in refused.stdout
    assert "Linux 6.14: loads" in run("inspect", made, "--kernel", "6.14").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nonsense"], "unknown scheduler 'nonsense'"),
        (["bf"], "did you mean"),
        (["exec:"], "a program must follow"),
        (["bfs", "--kernel", "5.4"], "no kernel '5.4' is described here"),
        (["/no/such/file"], "cannot read /no/such/file: No such file"),
        (["/dev/zero"], "cannot read /dev/zero: it is not a file"),
        (["./"], "cannot read .: Is a directory"),
        (["/bin/true"], "/bin/true: it is an ELF file for another machine, not for BPF"),
        ([__file__], "it is not an ELF file"),
    ],
)
def test_what_cannot_be_looked_at_is_named(words: list[str], sentence: str) -> None:
    done = run("inspect", *words, expect=64)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_object_without_types_says_how_to_make_it(tmp_path: Path) -> None:
    source = f"{HEADER}{BODY % ''}{FOOTER}"
    plain = "\n".join(line for line in source.splitlines() if not line.startswith("#pragma"))
    made = compile_object(tmp_path, plain, flags=["-g0"])
    done = run("inspect", made, expect=64)
    assert "it has no types (.BTF): compile it with -g" in done.stderr


def test_a_program_that_is_not_there_is_missing() -> None:
    assert "no-such-program was not found" in run("inspect", "exec:no-such-program", expect=69).stderr


def test_lines_fit_a_terminal(tmp_path: Path) -> None:
    made = compile_object(tmp_path, f"{HEADER}{BODY % 'scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);'}{FOOTER}")
    for words, code in ((("bfs",), 0), ((made,), 1)):
        assert max(map(len, run("inspect", *words, expect=code).stdout.splitlines())) <= 80
    assert "* described by hand" in run("inspect", "bfs").stdout
    assert "* described by hand" not in run("inspect", "bfs", "--kernel", "7.3").stdout


def test_a_scheduler_is_found_inside_a_program_with_its_options(tmp_path: Path) -> None:
    made = compile_object(tmp_path, f"{HEADER}{BODY % ''}{FOOTER}")
    program = tmp_path / "scx_mine"
    program.write_bytes(Path("/bin/true").read_bytes() + made.read_bytes() + b"more")
    program.chmod(0o755)
    (found,) = json.loads(run("inspect", f"exec:{program} --verbose", "--json").stdout)
    assert found["tables"][0]["name"] == "tiny"
    without = tmp_path / "scx_none"
    without.write_bytes(made.read_bytes().replace(b"sched_ext_ops\0", b"other_ext_ops\0") + b"more")
    without.chmod(0o755)
    assert "no object inside it hands the kernel a scheduler" in run("inspect", f"exec:{without}", expect=64).stderr


def test_programs_that_trace_are_told_and_do_not_decide(tmp_path: Path) -> None:
    """Loaders leave them out where their function is missing, and those with a question mark unless they are wanted."""
    call = "scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);"
    before = f"""
    SEC("fentry/no_such_function") int one(u64 *ctx) {{ {call} return 0; }}
    SEC("?fentry/try_to_wake_up") int two(u64 *ctx) {{ {call} return 0; }}
    """
    found = look_at(tmp_path, "", before=before)
    assert refusals(found) == {}
    assert {each["function"] for each in found["programs"]} == {"one", "two"}
    there = look_at(tmp_path, "", before=before.replace("?", ""))
    assert refusals(there) == {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", *SEVEN)}
    assert there["kernels"][-1]["needs"][0]["function"] == "two"


def test_maps_and_helpers_that_no_kernel_knows_decide(tmp_path: Path) -> None:
    before = """
    #define MAP(name, kind) struct { int (*type)[kind]; int (*max_entries)[8]; u32 *key; u64 *value; } name SEC(".maps")
    MAP(usual, 2); MAP(strange, 99);
    static u64 (*helper)(void) = (void *)9999;
    """
    found = look_at(tmp_path, "helper();", before=before)
    assert refusals(found) == {kernel: ["helper 9999", "maps of the kind 99"] for kernel in ALL}
    usual = {"name": "usual", "kind": "array", "key_bytes": 4, "value_bytes": 8, "entries": 8, "each": "entry"}
    assert usual in found["maps"]


MAPS = """
#define MAP(name, kind, count, ...) \\
    struct { int (*type)[kind]; int (*max_entries)[count]; __VA_ARGS__ } name SEC(".maps")
struct five { char text[5]; };
MAP(each_entry, 2, 10, u32 *key; struct five *value;);
MAP(each_cpu, 6, 10, u32 *key; u64 *value;);
MAP(keyed, 1, 10, u32 *key; u64 *value;);
MAP(ring, 27, 4096,);
struct { int (*type)[29]; int (*map_flags)[1]; int *key; struct five *value; } each_task SEC(".maps");
struct { int (*type)[32]; int (*map_flags)[1]; int *key; struct five *value; } each_group SEC(".maps");
"""


def test_memory_is_counted_for_a_machine(tmp_path: Path) -> None:
    made = compile_object(tmp_path, f"{HEADER}{MAPS}{BODY % ''}{FOOTER}")

    def most(*words: str) -> int:
        (found,) = json.loads(run("inspect", made, "--json", *words).stdout)
        return int(found["memory"]["most_bytes"]) - int(found["data_bytes"])

    fixed, each_cpu, each_task = 10 * 8 + 10 * 16 + 4096, 10 * 8, 8
    assert most("--cpus", "1", "--tasks", "0") == fixed + each_cpu
    assert most("--cpus", "16", "--tasks", "0") == fixed + 16 * each_cpu
    assert most("--cpus", "1", "--tasks", "500") == fixed + each_cpu + 500 * each_task
    lines = run("inspect", made, "--cpus", "1", "--tasks", "1").stdout.splitlines()
    assert "map each_cpu: percpu_array, 10 x 8 bytes for each CPU" in lines
    assert "map each_task: task_storage, 5 bytes for each task" in lines
    assert "in all at most 4.3 KiB with 1 CPU and 1 task" in lines
    assert "  and what control groups have" in lines
    assert "is not in the range" in run("inspect", made, "--cpus", "0", expect=64).stderr


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 KiB"), (10 << 10, "10 KiB"), (1 << 20, "1.0 MiB"),
     (5 << 40, "5,120 GiB")],
)  # fmt: skip
def test_bytes_are_written_in_a_unit_that_fits(count: int, words: str) -> None:
    assert describe_bytes(count) == words


def test_parameters_are_told_as_the_object_describes_them(tmp_path: Path) -> None:
    tag = '__attribute__((btf_decl_tag("{}")))'
    number = tag.format("parameter | ms | 1..9 | How long | it takes.")
    choice = tag.format("choice | old, new | Which way.")
    wrong = tag.format("parameter | ms | 7..9 | x")
    before = f"volatile short turn_ms {number} = 6; const volatile u32 way {choice} = 1; volatile int far {wrong} = 6;"
    found = look_at(tmp_path, "volatile u64 all = turn_ms + way + far;", before=before)
    turn, way = sorted(found["parameters"], key=lambda each: str(each["name"]))
    assert turn == {
        "name": "turn_ms", "unit": "ms", "min": 1, "max": 9, "may_be": "1..9 ms", "default": 6,
        "sentence": "How long | it takes.", "runtime": True,
    }  # fmt: skip
    assert (way["choices"], way["default"], way["runtime"]) == (["old", "new"], "new", False)
    # What users choose, loaders leave alone.
    assert not found["constants"]
    assert found["bad_parameters"] == ['the object describes "far" wrongly: its initial value is not within the range']
    shown = run("inspect", next(tmp_path.glob("*.o"))).stdout
    assert "  turn_ms=6  (1..9 ms)\n      How long | it takes.\n" in shown
    assert "  way=new  (old, new, fixed once attached)\n" in shown
    assert 'the object describes "far" wrongly' in shown


def test_parameters_are_those_that_the_agent_tells() -> None:
    def shown(parameters: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        return sorted([each[key] for key in ("name", "default", "sentence", "runtime")] for each in parameters)

    for name, scheduler in describe_schedulers().items():
        (found,) = json.loads(run("inspect", name, "--json").stdout)
        assert shown(found["parameters"]) == shown(scheduler["parameters"])
