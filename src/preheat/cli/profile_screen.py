"""The profile of one session on a terminal: a sentence, a table of tools, and a line for each other measure.

Measures nothing: every number comes from the profile.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.screen import clean, has_unicode, say
from preheat.cli.text import count, date_time, duration, one_line, short_path, tokens
from preheat.model.listing import SessionSummary
from preheat.model.profile import Rate, SessionProfile, UserStyle

_WIDEST = 100
_LABEL = 10
_BAR = 20
_MOST_TOOLS = 15
_NAME = 30
_FEW = 20
"""With fewer judged calls a rate says little."""
_ENOUGH_FOR_SLOPE = 50
_CAUSES = {
    "mistake": ("mistake", "the agent's own"),
    "finding": ("finding", "bad news from a tool that did its work, such as a failing test"),
    "environment": ("environment", "what is not installed, network, permissions, time limits"),
    "unknown": ("of unknown cause", "nothing shows why; never counted as the agent's mistake"),
}
_RUNGS = {
    "flag": "the program's own flag",
    "exit_code": "an exit code",
    "structure": "a value in the result",
    "text": "the wording of the result",
    "none": "nothing",
}
_STYLES = {
    "command_driven": "command-driven",
    "conversational": "conversational",
    "terse": "terse",
    "detailed": "detailed",
    "balanced": "balanced",
}
_TYPES = {
    "terminal": "shell commands",
    "code": "running code",
    "file": "reading and changing files",
    "research": "searching and the web",
    "meta": "delegating",
    "general": "other tools",
}


def show_profile(screen: Console, summary: SessionSummary, profile: SessionProfile) -> None:
    """Print the profile of a session."""
    say(screen, one_line(clean(summary.title or summary.opening), _WIDEST) or "(no title)", "bold")
    program = f"{title_of(summary.agent)} {summary.version}".strip()
    parts = (program, clean(summary.model), short_path(summary.project), date_time(summary.started_at))
    say(screen, "  " + " · ".join(part for part in parts if part and part != "-"), "dim")
    say(screen)
    say(
        screen,
        summarize_profile(profile),
        "bold red" if profile.mistakes.count else "bold green" if profile.errors.total else "bold",
    )
    for line in _explanations(profile):
        for part in Text(line).wrap(screen, max(min(screen.width, _WIDEST + 20) - 2, 30)):
            say(screen, f"  {part.plain.rstrip()}", "dim")
    if profile.calls:
        say(screen)
        _tools(screen, profile)
    say(screen)
    for label, text in _lines(profile):
        _print_labelled(screen, label, text)


def summarize_profile(profile: SessionProfile) -> str:
    """How the calls went, in one sentence."""
    if not profile.calls:
        return "No tool was called, so there is nothing to judge."
    errors = profile.errors
    calls = count(profile.calls, "call")
    if not errors.total:
        return f"{calls} of unknown outcome."
    apart = "" if errors.total == profile.calls else f" of the {errors.total:,} that could be judged"
    if not errors.count:
        return f"{calls}, none{apart} failed (95 % interval {_interval(errors)})."
    causes = ", ".join(_count_cause(cause, number) for cause, number in profile.causes.items())
    return f"{calls}, {errors.count:,}{apart} failed ({_rate(errors)}): {causes}."


def _count_cause(cause: str, number: int) -> str:
    return count(number, cause) if cause in ("mistake", "finding") else f"{number:,} {_CAUSES[cause][0]}"


def _explanations(profile: SessionProfile) -> Iterator[str]:
    """What the words of the headline mean, and how reliable it is."""
    meanings = [
        f"{name}: {meaning}" for cause, (name, meaning) in _CAUSES.items() if profile.causes.get(cause) and meaning
    ]
    if meanings:
        yield "; ".join(meanings)
    left_out = [
        f"{profile.statuses[name]:,} {name}"
        for name in ("unknown", "denied", "interrupted")
        if name in profile.statuses
    ]
    if left_out and profile.errors.total:
        yield f"not in the rate: {', '.join(left_out)}"
    if 0 < profile.errors.total < _FEW:
        yield "with so few calls, look at the interval, not at the rate"


# The table of tools
def _tools(screen: Console, profile: SessionProfile) -> None:
    shown = list(profile.tools.items())[:_MOST_TOOLS]
    names = [_short_name(clean(name)) for name, _ in shown]
    wide = max(len("tool"), *map(len, names))
    size = _BAR if screen.width >= _WIDEST else _BAR // 2
    say(screen, f"{'tool':<{wide}}  calls  failed  mistakes  {'error rate':<{size + 7}} 95 % interval", "bold")
    full, empty = ("█", "░") if has_unicode() else ("#", ".")
    for name, (_, use) in zip(names, shown, strict=True):
        line = Text(f"{name:<{wide}}  {use.calls:>5,}  ")
        line.append(f"{use.errors.count or '':>6}", "red" if use.errors.count else "")
        line.append(f"  {use.mistakes.count or '':>8}  ")
        if use.errors.value is None:
            line.append("not judged", "dim")
        else:
            filled = min(size, max(round(use.errors.value * size), 1 if use.errors.count else 0))
            line.append(f"{_percent(use.errors.value):>5}  ")
            line.append(full * filled, "red")
            line.append(empty * (size - filled), "dim")
            line.append(f" {_interval(use.errors)}", "dim")
        line.rstrip()
        screen.print(line, soft_wrap=True)
    if len(profile.tools) > len(shown):
        say(screen, "… and others with fewer calls; `--json` has them all", "dim")


def _short_name(name: str) -> str:
    """The end of a long name: the tools of one server begin alike."""
    return name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"


# The other measures, a line each
def _lines(profile: SessionProfile) -> Iterator[tuple[str, str]]:
    if profile.calls:
        yield "Lost", _describe_loss(profile)
        yield "Trend", _trend(profile)
        yield "Recovery", _recovery(profile)
        yield "Repeats", _repeats(profile)
    yield "Context", _context(profile)
    yield "Person", _person(profile.user)
    if profile.calls:
        yield "Mostly", _TYPES[profile.dominant_tool_type] + _bookkeeping(profile)
    if profile.context_markers:
        places = [marker for marker in profile.context_markers if not marker.startswith("`")]
        yield "Refers to", ", ".join(one_line(clean(place), 60) for place in places[:6]) or "only code"
    yield "Score", _score(profile)
    if profile.calls:
        yield "Evidence", _evidence(profile)


def _describe_loss(profile: SessionProfile) -> str:
    if not profile.errors.count:
        return "nothing: no call failed"
    if not profile.lost_seconds and not profile.lost_tokens:
        return "nothing that was recorded (findings are work, not loss)"
    time = duration(profile.lost_seconds) + (f" of {duration(profile.seconds)}" if profile.seconds else "")
    of_all = f" of {tokens(profile.tokens)}" if profile.tokens else ""
    parts = [time if profile.lost_seconds else "", f"about {tokens(profile.lost_tokens)}{of_all} tokens"]
    return " and ".join(part for part in parts if part) + " went into calls that failed, findings aside"


def _trend(profile: SessionProfile) -> str:
    early, late = profile.early, profile.late
    if early.value is None or late.value is None or profile.proficiency_gain is None:
        return "too few judged calls to compare early and late ones"
    if not profile.errors.count:
        return "no call failed, early or late"
    sentence = (
        f"first fifth {early.count:,} of {early.total:,} failed ({_percent(early.value)}), "
        f"last fifth {late.count:,} of {late.total:,} ({_percent(late.value)}): {_points(profile.proficiency_gain)}"
    )
    if profile.slope is None or profile.slope_low is None or profile.slope_high is None:
        return sentence
    if profile.errors.total < _ENOUGH_FOR_SLOPE:
        return f"{sentence}\ntoo few calls for a slope"
    is_sure = profile.slope_low > 0 or profile.slope_high < 0
    verdict = ("it got worse" if profile.slope > 0 else "it got better") if is_sure else "could be chance"
    return (
        f"{sentence}\nslope {_points(profile.slope)} per hundred calls, 95 % interval "
        f"{_format_signed(profile.slope_low)} to {_format_signed(profile.slope_high)}: {verdict}"
    )


def _recovery(profile: SessionProfile) -> str:
    recovery = profile.recovery
    if not recovery.total:
        return "nothing to recover from"
    took = ""
    if profile.recovery_calls is not None:
        took = (
            ", at the next call"
            if profile.recovery_calls == 1
            else f", after {profile.recovery_calls:.1f} calls on average"
        )
    were = "failure was" if recovery.total == 1 else "failures were"
    return f"{recovery.count:,} of {recovery.total:,} {were} fixed within five calls ({_rate(recovery)}){took}"


def _repeats(profile: SessionProfile) -> str:
    failures, reads = profile.repeated_failures, profile.rereads
    lines = [f"{profile.repeats.count:,} of {count(profile.repeats.total, 'call')} were the same as an earlier call"]
    if failures.total:
        lines.append(f"{failures.count:,} of {count(failures.total, 'failure')} had happened before in this session")
    if reads.total:
        lines.append(f"{reads.count:,} of {count(reads.total, 'read')} read again what had not changed")
    return "\n".join(lines)


def _context(profile: SessionProfile) -> str:
    parts = [count(profile.messages, "message")]
    if profile.context_peak is not None:
        window = f" of {tokens(profile.context_window)}" if profile.context_window else ""
        parts.append(f"at most {tokens(profile.context_peak)}{window} tokens in the context at once")
    parts.append(count(profile.compactions, "compaction") if profile.compactions else "never compacted")
    return ", ".join(parts)


def _person(user: UserStyle) -> str:
    if not user.messages:
        return "wrote nothing"
    facts = [f"{round(user.average_length):,} characters each"]
    facts += [f"{_percent(user.questions)} with a question"] if user.questions else []
    facts += [f"{_percent(user.commands)} slash commands"] if user.commands else []
    return f"{_STYLES[user.style]}: {count(user.messages, 'message')}, {', '.join(facts)}"


def _bookkeeping(profile: SessionProfile) -> str:
    if not profile.bookkeeping_calls:
        return ""
    return f" (and {count(profile.bookkeeping_calls, 'call')} to plan, remember or ask, not counted above)"


def _score(profile: SessionProfile) -> str:
    if not profile.proficiency:
        return "0 (needs at least ten messages)" if profile.messages < 10 else "0"
    success = "0 (nothing judged)" if profile.errors.value is None else f"(1 − {profile.errors.value:.2f})"
    length = f"min(1, {profile.messages:,}/100)"
    return f"{profile.proficiency:.2f} of 1 = 0.7 × {success} for calls that worked + 0.3 × {length} for length"


def _evidence(profile: SessionProfile) -> str:
    return "verdicts rest on " + ", ".join(f"{_RUNGS[rung]} ({number:,})" for rung, number in profile.rungs.items())


# Labels and numbers
def _print_labelled(screen: Console, label: str, text: str) -> None:
    """Print a label and its text; a long text continues below itself."""
    room = min(screen.width, 140) - _LABEL
    for index, part in enumerate(text.split("\n")):
        lines = Text(part).wrap(screen, max(room, 30))
        for number, line in enumerate(lines):
            head = label if not index and not number else ""
            shown = Text(f"{head:<{_LABEL}}", "bold")
            shown.append(line.plain.rstrip(), "not bold")
            screen.print(shown, soft_wrap=True)


def _percent(share: float) -> str:
    """Whole percents; one decimal where rounding would wrongly give 0 or 100."""
    percent = 100 * share
    return f"{percent:.1f} %" if 0 < percent < 1 or 99 < percent < 100 else f"{percent:.0f} %"


def _interval(rate: Rate) -> str:
    if rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.0f}–{100 * rate.high:.0f} %"


def _rate(rate: Rate) -> str:
    return "" if rate.value is None else f"{_percent(rate.value)}, 95 % interval {_interval(rate)}"


def _format_signed(share: float) -> str:
    """In hundredths, with a proper minus."""
    return f"{round(100 * share):+,}".replace("-", "−").replace("+0", "±0")


def _points(share: float) -> str:
    return f"{_format_signed(share)} {'point' if round(100 * abs(share)) == 1 else 'points'}"
