"""How many blocks a question needs, for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from runoff.decide.sample_size import CHANCES, Answer, Source, find_hardest
from runoff.report.data.json_text import dump, round_significant
from runoff.report.words.layout import wrap
from runoff.report.words.noise import DOES_NOT_VARY, format_size
from runoff.statistics.planning import Blocks
from runoff.text import escape_line, format_duration

SCHEMA = "runoff.plan/1"
UNKNOWN = "over 100000"
WIDTH = 80


def render(sources: Sequence[Source], found: Sequence[Answer], warnings: Sequence[str] = ()) -> str:
    """Return each comparison with its noise, then what all of them together need, and what a reader has to know."""
    lines = (line for warning in warnings for line in wrap(escape_line(warning), WIDTH, "! ", "  "))
    return "\n".join((*_lines(sources, found), *lines)) + "\n"


def _lines(sources: Sequence[Source], found: Sequence[Answer]) -> Iterator[str]:
    for source in sources:
        mine = [each for each in found if each.source is source]
        yield from wrap(_head(source, bool(mine)), WIDTH, "", "  ")
        for answer in mine:
            yield f"  {_describe_question(answer)}  {_blocks(answer.blocks, answer.source)}{_time(answer)}"
    if len(sources) > 1 and found:
        yield "all of them, by that which needs most"
        for asked in dict.fromkeys(each.asked for each in found):
            for chance in CHANCES:
                if (most := find_hardest(found, asked, chance)) is not None:
                    yield f"  {_describe_question(most)}  {_blocks(most.blocks, most.source)}{_time(most)}"
    if found:
        yield "In brackets: a 90 % interval, because the noise is an estimate."


def _head(source: Source, answered: bool) -> str:
    if source.sd is None:
        return f"{source.name}: shares fewer than two blocks with the baseline, so its noise is unknown"
    if source.sd == 0:
        return f"{source.name}: {DOES_NOT_VARY}, over {source.df + 1} blocks: too few to compute with"
    noise = format_size(source.sd, source.unit, relative=source.relative)
    text = f"{source.name}: noise {noise} ({_describe_noise(source)})"
    return text if answered else f"{text}; with a value of zero or below nothing can be asked in percent"


def _describe_noise(source: Source) -> str:
    if source.is_paired:
        return f"SD of block differences, {source.df + 1} blocks"
    return f"SD of the difference of two runs, {source.df + 1} runs"


def _describe_question(answer: Answer) -> str:
    size = f"{100 * answer.size:g} %"
    what = f"a change of {size} shows" if answer.asked == "difference" else f"none is = within {size}"
    return f"{what:25} {100 * answer.chance:.0f} % chance:"


def _blocks(blocks: Blocks, source: Source) -> str:
    needed = UNKNOWN if blocks.needed is None else f"{blocks.needed}"
    spread = f"{blocks.low or UNKNOWN}..{blocks.high or UNKNOWN}"
    unit = "blocks" if source.is_paired else "runs of each"
    return f"{needed:>6} {unit}" + (f" ({spread})" if blocks.low != blocks.high else "")


def _time(answer: Answer) -> str:
    return "" if answer.seconds is None else f", {format_duration(answer.seconds)}"


def render_json(sources: Sequence[Source], found: Sequence[Answer], warnings: Sequence[str] = ()) -> str:
    """Render JSON; ``sd`` is of log ratios or in the metric's unit, ``low`` and ``high`` are a 90 % interval."""
    document = {"schema": SCHEMA, "comparisons": [_source(source, found) for source in sources]}
    document["warnings"] = list(warnings)
    return dump(document)


def _source(source: Source, found: Sequence[Answer]) -> dict[str, Any]:
    plain = {**asdict(source), "sd": None if source.sd is None else round_significant(source.sd)}
    mine = [each for each in found if each.source is source]
    return {**plain, "answers": [_answer(each) for each in mine]}


def _answer(answer: Answer) -> dict[str, Any]:
    seconds = None if answer.seconds is None else round(answer.seconds, 1)
    return {
        "asked": answer.asked,
        "size": answer.size,
        "chance": answer.chance,
        **asdict(answer.blocks),
        "seconds": seconds,
    }
