"""Settings as text: the command line, or the plan file, that makes the same campaign again."""

from collections.abc import Collection

from runoff.plan.settings import USUAL_DISK_MODEL, USUAL_QUANTUM, Settings
from runoff.text import escape_for_toml, percent


def rerun_command(settings: Settings) -> str:
    """The command line that makes the same campaign again."""
    import shlex

    words = ["runoff", "compare"]
    # Behind two dashes a word is an arm, whatever it begins with.
    last = ["--", *settings.arms] if any(text.startswith("-") for text in settings.arms) else []
    if not last:
        words += settings.arms
    for name, arm in settings.names.items():
        words += ["-n", f"{name}={arm}"]
    for text in settings.workloads:
        words += ["--work", text]
    for text in settings.loads:
        words += ["--load", text]
    for name in settings.probes:
        words += ["--probe", name]
    words += ["--on", settings.on]
    if settings.clock is not None:
        words += ["--clock", settings.clock]
    words += ["--cpus", str(settings.cpus)]
    if settings.on == "lab":
        words += ["--memory", str(settings.memory_mb)]
    if settings.topology:
        words += ["--topology", settings.topology]
    if settings.quantum != USUAL_QUANTUM:
        words += ["--quantum", str(settings.quantum)]
    if settings.sensitivity:
        words += ["--sensitivity", settings.sensitivity]
    if settings.disk_mb:
        words += ["--disk", str(settings.disk_mb)]
    if settings.disk_model != USUAL_DISK_MODEL:
        words += ["--disk-model", settings.disk_model]
    if settings.place:
        words += ["--place", settings.place]
    if settings.swap_mb:
        words += ["--swap", str(settings.swap_mb)]
    if settings.kernel:
        words += ["--kernel", settings.kernel]
    for package in settings.packages:
        words += ["--package", package]
    for label, count in settings.load_blocks.items():
        words += ["--load-blocks", f"{label}={count}"]
    if settings.warmup:
        words += ["--warmup", str(settings.warmup)]
    if settings.flush:
        words.append("--flush")
    shares = (("--until", settings.until), ("--margin", settings.margin), ("--rare", settings.rare))
    for option, share in shares:
        if share is not None:
            words += [option, percent(share)]
    if settings.most_blocks is not None:
        words += ["--most-blocks", str(settings.most_blocks)]
    words += ["--blocks", str(settings.blocks)]
    if settings.seed is not None:
        words += ["--seed", str(settings.seed)]
    return shlex.join([*words, *last])


def plan_text(settings: Settings, left_open: Collection[str] = ()) -> str:
    """The plan as a TOML file that ``runoff run`` takes, without the keys that are to be ``left_open``."""
    import tomli_w

    values = settings.model_dump(mode="json", exclude={*left_open})
    # TOML has no word for nothing; and behind an empty table's name what a user adds would belong to it.
    return escape_for_toml(tomli_w.dumps({key: value for key, value in values.items() if value not in (None, {})}))
