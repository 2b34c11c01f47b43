"""`runoff inspect` on objects that a compiler has made of a few lines: what each kernel says to them, and why."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bpf_objects import BODY, FOOTER, HEADER, compile_object
from cli_runner import run

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


def test_what_is_known_on_one_way_alone_is_not_known_where_two_ways_meet(tmp_path: Path) -> None:
    """The constant is 0 on one way and the answer of the kernel on the other."""
    statements = """
    volatile u64 *slot = (void *)ctx[1];
    u64 way = ctx[0] ? 0 : 1;
    *slot = way;
    asm volatile("" : "+r"(way));
    if (way) scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);
    """
    assert refusals(look_at(tmp_path, statements)) == {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", *SEVEN)}
    never = statements.replace("ctx[0] ? 0 : 1", "0")
    assert refusals(look_at(tmp_path, never)) == {}


def test_instructions_that_only_newer_kernels_know_decide(tmp_path: Path) -> None:
    """A load that others see in order: what was known of the register before does not hold after it."""
    # r3 = 0; r3 = load_acquire((u64 *)(r1 + 0)); if r3 == 0 goto the end; call
    statements = """
    asm volatile("r3 = 0; .byte 0xdb, 0x13, 0, 0, 0, 1, 0, 0; if r3 == 0 goto 1f; r1 = 0; r2 = 0; r3 = 0; r4 = 0;"
                 "call scx_bpf_dispatch; 1:" : : : "r0", "r1", "r2", "r3", "r4", "r5");
    void *volatile there = scx_bpf_dispatch;
    """
    found = look_at(tmp_path, statements)
    gone = {kernel: ["scx_bpf_dispatch()"] for kernel in ("6.18", *SEVEN)}
    newer = {kernel: ["load-acquire instructions"] for kernel in ("6.12", "6.14")}
    assert refusals(found) == {**gone, **newer}
    jump = """
    asm volatile("r3 = 0; .byte 0x0d, 0x03, 0, 0, 0, 0, 0, 0; r0 = 0; exit; r1 = 0; r2 = 0; r3 = 0; r4 = 0;"
                 "call scx_bpf_dispatch" : : : "r0", "r1", "r2", "r3", "r4", "r5");
    void *volatile there = scx_bpf_dispatch;
    """
    older = {kernel: ["indirect jumps"] for kernel in ("6.12", "6.14", "6.16")}
    both = {"6.18": ["scx_bpf_dispatch()", "indirect jumps"]}
    assert refusals(look_at(tmp_path, jump)) == {**gone, **older, **both}


def test_bytes_that_are_no_instruction_are_refused_by_every_kernel(tmp_path: Path) -> None:
    found = look_at(tmp_path, 'asm volatile(".byte 0xe6, 0, 0, 0, 0, 0, 0, 0");')
    assert {each["verdict"] for each in found["kernels"]} == {"does_not_load"}
    what = ["an instruction with the code 0xe6 and these fields"]
    assert refusals(found) == dict.fromkeys(ALL, what)
    guarded = look_at(
        tmp_path,
        'if (way) asm volatile(".byte 0xe6, 0, 0, 0, 0, 0, 0, 0");',
        before="const volatile u8 way = 0;",
    )
    assert refusals(guarded) == {}
    assert refusals(guarded, "depends") == dict.fromkeys(ALL, what)
