"""The table of docs/engines.md is what the engines say of themselves."""

from collections.abc import Iterator

from checkout import ROOT

from runoff.engine_kinds import ENGINES, EngineKind

ABILITIES = {
    "needs root": "needs_root",
    "uses this machine as it is": "is_this_machine",
    "has guests": "has_guests",
    "boots this machine for arms that name a kernel": "boots_kernels",
    "machines of a [cluster](cluster.md) take its samples": "travels",
}


def describe(kind: EngineKind) -> dict[str, str]:
    return {
        "samples are taken on": kind.about,
        "kinds of [work](workloads/README.md) that it takes": ", ".join(kind.takes),
        "clocks": ", ".join(kind.clocks),
        "CPUs under the virtual clock": f"up to {kind.most_exact_cpus}" if "virtual" in kind.clocks else "none",
        **{title: "yes" if getattr(kind, field) else "no" for title, field in ABILITIES.items()},
        "[settings](settings.md) that its arms can have": f"of {', '.join(kind.settings)}" if kind.settings else "none",
        "keys of a [plan](plans.md) that it refuses": ", ".join(f"`{key}`" for key in kind.without),
    }


def rows() -> Iterator[str]:
    described = [describe(kind) for kind in ENGINES.values()]
    yield f"| | {' | '.join(f'`{name}`' for name in ENGINES)} |"
    yield f"|---|{'---|' * len(ENGINES)}"
    for title in described[0]:
        yield f"| {title} | {' | '.join(each[title] for each in described)} |"


def test_the_table_is_what_the_engines_say() -> None:
    assert "\n".join(rows()) in (ROOT / "docs/engines.md").read_text()
