"""What is started to try a project out: the command, its port, and what it prints when it is up. Knows no file on disk."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.judged import JudgedSession
from preheat.commands import command_text
from preheat.lessons.typed_commands import split_commands
from preheat.model.lesson import Evidence, Lesson, Scope, count_support, lesson_id, select_evidence
from preheat.safe_text.fact_sentences import SIGNS
from preheat.safe_text.reasons import junk_reason

HALF_LIFE = 120.0
SERVER = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)(?:\s+(?:--filter|-F|--cwd|-C|--prefix)[ =]\S+)*(?:\s+run)?\s+(?:[\w:-]*[:-])?"
    r"(?:dev|start|serve|preview|storybook)(?:[:-][\w:-]+)?(?=\s|$)"
    r"|\bwrangler\s+(?:pages\s+)?dev\b|\b(?:vite|next|astro|nuxt|remix|tauri|expo)\s+(?:dev|start|preview)\b|\bvite(?=\s*$|\s+-)"
    r"|\buvicorn\s|\bgunicorn\s|\bflask\s+run\b|\bmanage\.py\s+runserver\b|\brails\s+s(?:erver)?\b|\bhttp\.server\b|\bphp\s+-S\b"
    r"|\bmix\s+phx\.server\b|\bdocker[ -]compose\b[^|;&]*\bup\b|\bhugo\s+server\b|\bmkdocs\s+serve\b"
    r"|\b(?:mise|make|just|task)\s+(?:run\s+)?(?:dev|serve|start)\b"
)
_PORT = re.compile(r"(?:--port[= ]|(?<![\w-])-p[ =]?|\bPORT=|localhost:|127\.0\.0\.1:|0\.0\.0\.0:)(?P<port>\d{4,5})\b")
_ADDRESS = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(?P<port>\d{2,5})\b")
_MACHINE = re.compile(r"\b(?:192\.168|10\.\d+|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+\b|\$\w")
"""Addresses and variables of one machine or session."""
_ENOUGH = 2


class ServerStart(msgspec.Struct, frozen=True, gc=False):
    """A server that a session started."""

    command: str
    folder: str
    seq: int
    port: str = ""
    sign: str = ""
    ran: bool = True
    at: float | None = None


class SessionServers(NamedTuple):
    """One session, as `learn_servers` wants it."""

    session: str
    started: Sequence[ServerStart]


def find_servers(seen: JudgedSession) -> tuple[ServerStart, ...]:
    """The servers that a session started, each with the port that it or the calls after it name."""
    found: list[ServerStart] = []
    for each in seen.calls:
        text = command_text(each.call.input) if each.call.kind == "shell" else ""
        if not text:
            continue
        if SERVER.search(text):
            output = each.result.text[:4000] if each.result is not None else ""
            for command in split_commands(seen.relative(text.replace("&\n", "\n").rstrip("& \n"))):
                if SERVER.search(command.text) and not junk_reason(command.text) and not _MACHINE.search(command.text):
                    port = _PORT.search(command.text) or _ADDRESS.search(output)
                    sign = next((sign for sign in SIGNS if sign in output), "")
                    found.append(
                        ServerStart(
                            command.text,
                            command.folder,
                            each.record.seq,
                            port["port"] if port else "",
                            sign,
                            each.ran,
                            each.call.at,
                        )
                    )
        elif found and not found[-1].port and (port := _ADDRESS.search(text)):
            found[-1] = msgspec.structs.replace(found[-1], port=port["port"])
    return tuple(found[-10:])


def learn_servers(project: str, sessions: Sequence[SessionServers]) -> list[Lesson]:
    """The servers that several sessions started, the commonest first."""
    scope = Scope(project=project)
    by_command: dict[tuple[str, str], list[tuple[str, ServerStart]]] = {}
    for each in sessions:
        for start in each.started:
            by_command.setdefault((start.folder, _without_port(start.command)), []).append((each.session, start))
    found = []
    for (folder, command), starts in sorted(by_command.items()):
        evidence = [Evidence(session, start.seq, start.at, not start.ran, start.command) for session, start in starts]
        support = count_support(evidence)
        if support.calls_for < 1 or support.calls_against > support.calls_for:
            continue
        texts = Counter(start.command for _, start in starts if start.ran)
        use = min(texts, key=lambda text: (-texts[text], len(text), text))
        use = f"cd {folder} && {use}" if folder else use
        ports = Counter(start.port for _, start in starts if start.port)
        signs = Counter(start.sign for _, start in starts if start.sign)
        details = {"about": "run"}
        details |= {"port": ports.most_common(1)[0][0]} if ports else {}
        details |= {"sign": signs.most_common(1)[0][0]} if signs else {}
        is_usual = support.sessions_for >= _ENOUGH
        times = [start.at for _, start in starts if start.at is not None]
        found.append(
            Lesson(
                id=lesson_id("convention", scope, "serve", folder, command),
                kind="convention",
                scope=scope,
                topic="serve",
                text=f"It runs with `{use}`" + (f" on port {details['port']}" if "port" in details else "") + ".",
                use=use,
                details=details,
                support=support,
                first_seen=min(times, default=None),
                last_seen=max(times, default=None),
                half_life=HALF_LIFE,
                evidence=select_evidence(evidence),
                status="active" if is_usual else "weak",
                why="" if is_usual else "seen in one session only",
            )
        )
    return found


def _without_port(command: str) -> str:
    return _PORT.sub("", command).strip()
