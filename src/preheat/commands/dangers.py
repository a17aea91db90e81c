"""Commands that no model should be shown as a way to work: they delete for good, run what they fetch, or give secrets away.

Two rings. `ruinous` is what nobody wants anywhere; `risky` is that and what may be right in the moment, on purpose, but must
not become a habit. Knows text only; a quoted command counts like one that is run.
"""

import re

from preheat.text_cache import cache_short_texts

_START = r"(?:^|[\s;&|(`'\"])(?:sudo\s+)?"
_FETCH = r"\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b"
_SHELL = r"\b(?:ba|z|da|k|c|tc|a|fi|pw|power)?sh(?:ell)?\b"
_OTHERS = r"(?:python[\d.]*|perl|ruby|php|node|deno|bun|iex|invoke-expression|osascript)\b"
_READS = r"(?!\s+-(?:\w*[cmen]|-eval|-print)\b)"
"""Interpreters read a download as data if they have a program of their own: `python -m json.tool`. Shells mostly run it."""
_THROUGH = r"(?:sudo\s+(?:-\w+\s+)*|(?:[\w./-]*/)?env\s+(?:-\S+\s+|\w+=\S*\s+)*|xargs\s+(?:-\S+\s+)*)?(?:[\w./-]*/)?"
_SOME = r"[^\n]{0,300}?"
_FETCHED = r"(?P=fetched)(?![\w./-])"

_RUINOUS_RULES = (
    # Removing a root, a home, or everything here.
    rf"{_START}rm\s+(?:-{{1,2}}[\w-]+\s+)*-{{1,2}}(?:\w*[rf]\w*|recursive|force)\s+(?:-{{1,2}}[\w-]*\s+)*"
    r"[\"']?(?:/|~|\$\{?HOME|\*|\.{1,2}(?:/?\*|/?[\"']?(?:\s|$)))",
    r"\bdel\s+/[sq]\b|\bformat\s+c:|\bmkfs(?:\.\w+)?\s|\bdd\b[^\n]{0,100}\bof=/dev/|>\s*/dev/(?:sd|nvme|hd|disk)",
    # Running what was fetched: through a pipe, in the place of an argument, or by way of a file.
    rf"{_FETCH}{_SOME}(?<!\\)\|\s*{_THROUGH}(?:{_SHELL}|{_OTHERS}{_READS})",
    rf"(?:{_SHELL}|{_OTHERS}|\beval|\bsource|{_START}\.)\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`)\s*{_FETCH}",
    rf"{_FETCH}{_SOME}(?:-o|-O|--output|>)\s*(?P<fetched>[\w./-]+){_SOME}(?:&&|;)\s*"
    rf"(?:chmod\s+\S+\s+(?P=fetched)\s*(?:&&|;)\s*)?(?:sudo\s+)?(?:(?:{_SHELL}|{_OTHERS})\s+)?(?:\./)?{_FETCHED}",
    rf"\bbase64\s+(?:-d|-D|--decode)\b[^\n]{{0,100}}\|\s*(?:{_SHELL}|{_OTHERS})|\biex\s*\(",
    # Letting somebody in.
    r"\b(?:nc|ncat)\s+(?:-\w+\s+)*-\w*e\b|/dev/tcp/|\bchmod\s+(?:-\w+\s+)*-R\s+(?:0?777|a\+rwx)\s+/",
    # What others have, or what was, is gone.
    r"\bdrop\s+(?:table|database|schema)\b|\btruncate\s+table\b|\bhistory\s+-c\b|\bcrontab\s+-r",
    r"\bgit\s+push\b[^\n]{0,80}(?:--force(?!-with-lease)|\s-f\b)|\bgit\s+clean\s+-\w*[fd]\w*x",
    rf":\(\)\s*\{{|{_START}shutdown\s+(?:-|/|now\b|\+|\d)",
)
_ELSEWHERE = r"(?![^\n|;&]{0,200}(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]))"
_RISKY_RULES = (
    # Removing folders, killing by name.
    rf"{_START}rm\s+(?:-{{1,2}}[\w-]+\s+)*-{{1,2}}(?:\w*r\w*|recursive)(?:\s|$)|\bremove-item\b[^\n]{{0,80}}-recurse",
    rf"{_START}(?:shred|wipe|srm|rimraf|dropdb|killall|pkill|reboot|halt|poweroff)\s",
    r"\bfind\b[^\n]{0,200}(?:-delete\b|-exec\s+rm\b)",
    # Losing work, or rewriting what others have.
    r"\bgit\s+(?:-\S+\s+(?:\S+\s+)?)?(?:push\b[^\n]{0,80}(?:--force|--mirror|--delete|\s-[fd]\b|\s\+\w|\s:\w)"
    r"|reset\s+[^\n]{0,40}--hard|clean\s+-\w*f|checkout\s+(?:-f\b|--force|--\s|\.)|restore\s(?!--staged)|stash\s+(?:drop|clear)"
    r"|branch\s+(?:(?-i:-D)\b|--delete\s+--force)|filter-(?:branch|repo)|reflog\s+expire|update-ref\s+-d)",
    r"\bdelete\s+from\s+\S+\s*(?:;|[\"']|$)|\b(?:flushall|flushdb|dropdatabase)\b|\bdb:(?:drop|reset)\b|\bmigrate\s+reset\b",
    # Changing what runs elsewhere, publishing.
    r"\b(?:terraform|tofu|pulumi)\s+(?:destroy|[^\n]{0,60}-auto-approve)",
    r"\b(?:kubectl|helm|gcloud|az|heroku)\s[^\n]{0,60}\b(?:delete|destroy|uninstall)\b|\bgh\s+(?:repo|release)\s+delete\b",
    r"\baws\s[^\n]{0,60}\b(?:rm|rb|delete-\w+|terminate-\w+)\b",
    r"\bdocker\b[^\n]{0,40}\b(?:prune|rmi?\s+-\w*f|down\s+[^\n]{0,40}(?:-v|--volumes))\b",
    r"\b(?:npm|pnpm|yarn|bun|cargo|poetry|uv|twine|gem)\s+(?:run\s+)?(?:publish|unpublish|upload|push)(?![\w-])",
    # Uploads, and installing unseen code.
    rf"\b(?:curl|wget)\b{_ELSEWHERE}[^\n]{{0,200}}\s(?:-d|-F|-T|--data\S*|--form|--upload-file|--post-file|--json)[\s=]*"
    r"[\"']?[^\s\"']*[@$]",
    rf"\|\s*(?:curl|nc|ncat|netcat|telnet)\b{_ELSEWHERE}|(?:\.ssh|\.aws|\.gnupg)/|\bid_(?:rsa|ed25519)\b|/etc/(?:passwd|shadow)\b",
    r"\b(?:pip3?|npm|pnpm|yarn|gem|go)\s+(?:install|i|add|get)\s[^\n]{0,80}(?:https?|git\+\w+)://",
    r"\bchmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx)\b|--dangerously\S*|--no-preserve-root\b",
)
_RUINOUS, _RISKY = (re.compile(f"(?i){'|'.join(rules)}") for rules in (_RUINOUS_RULES, _RISKY_RULES))
_HINTS = (
    "rm", "del", "format", "mkfs", "dd", "/dev/", "curl", "wget", "fetch", "iwr", "irm", "invoke-", "base64", "iex", "nc",
    "chmod", "drop", "truncate", "history", "crontab", "git", ":()", "shutdown", "remove-item", "shred", "wipe", "rimraf",
    "killall", "pkill", "reboot", "halt", "poweroff", "find", "flush", "db:", "migrate", "terraform", "tofu", "pulumi",
    "destroy", "uninstall", "aws", "docker", "publish", "upload", "push", "netcat", "telnet", ".ssh/", ".gnupg/", "id_",
    "/etc/", "://", "--dangerously", "--no-preserve-root",
)  # fmt: skip
"""A text that any rule is about has one of these in small letters; most have none. A test holds the rules to that."""
_OTHER_SIGNS = "\u0130\u0131\u017f\u212a"
"""What regular expressions take for an i, an s or a k."""
_LOOKED_AT = 20_000
"""Letters; what is longer is no command that anybody would be shown."""


def ruinous_part(text: str) -> str:
    """The part of a text that destroys, or runs what it fetches; empty where there is none."""
    return _first(_RUINOUS, text)


@cache_short_texts
def risky_part(text: str) -> str:
    """The part of a text that is ruinous, or risky as a habit: recursive removal, forced pushes, lost work, uploads."""
    small = text[:_LOOKED_AT].lower()
    if not any(hint in small for hint in _HINTS) and not any(sign in text for sign in _OTHER_SIGNS):
        return ""
    return ruinous_part(text) or _first(_RISKY, text)


def _first(pattern: "re.Pattern[str]", text: str) -> str:
    found = pattern.search(text[:_LOOKED_AT].replace("\\\n", " "))  # a line that goes on in the next
    return " ".join(found[0].split()) if found else ""
