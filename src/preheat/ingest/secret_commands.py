"""Passwords in the arguments of commands: `curl -u user:…`, `mysql -p…`, `sshpass -p …`, `echo … | docker login`.

Which option of which program takes a password is from the programs' own manuals. Knows no shell: a command is the text up to the
end of its line, in which quotes may be escaped.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from preheat.ingest.secret_shapes import Examined, Span, begins_word, compile_later, is_given_password

_QUOTE = rb"(?:\\{0,15}[\"'])?"
_VALUE = rb"([^\s\"'\\|;<>]{4,256})"
_OPTION = rb"(?:^|[ \t])"
_USER = rb"[^\s:\"'\\|;<>/]{0,64}:"
_LONGEST = 400
_LINE_END = compile_later(rb"[\r\n]|\\{1,15}[nr]")
_TO_USER = rb"(?:-u|--user|-U|--proxy-user)[ =]?" + _QUOTE + _USER + _VALUE


class Command(NamedTuple):
    """A program, and the options after which its password stands."""

    program: bytes
    options: bytes


COMMANDS = (
    Command(rb"curl", _TO_USER),
    Command(rb"https?", rb"(?:-a|--auth)[ =]" + _QUOTE + _USER + _VALUE),
    Command(rb"(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mycli)", rb"-p" + _QUOTE + _VALUE),
    Command(rb"sshpass", rb"-p[ ]?" + _QUOTE + _VALUE),
    Command(rb"redis-cli", rb"(?:-a|--pass)[ =]" + _QUOTE + _VALUE),
    Command(
        rb"(?:docker|podman|nerdctl|buildah|skopeo|oras|registry|helm|twine)[ ](?:login|upload)",
        rb"-p[ =]?" + _QUOTE + _VALUE,
    ),
    Command(rb"mongo(?:sh|dump|restore|export|import)?", rb"-p[ ]?" + _QUOTE + _VALUE),
    Command(rb"ldap(?:search|modify|add|delete|whoami|passwd)", rb"-w[ ]?" + _QUOTE + _VALUE),
    Command(rb"(?:smbclient|rpcclient|mount\.cifs)", rb"-U[ ]?" + _QUOTE + rb"[^\s%\"'\\]{1,64}%" + _VALUE),
    Command(rb"openssl", rb"(?:-pass|-passin|-passout)[ ]" + _QUOTE + rb"pass:" + _VALUE),
    Command(rb"(?:keytool|jarsigner|apksigner)", rb"-(?:store|key|srcstore|deststore)pass(?:[ ]pass:|[ ])" + _QUOTE + _VALUE),
    Command(rb"(?:7za?|rar|unrar)", rb"-p" + _QUOTE + _VALUE),
    Command(rb"(?:un)?zip", rb"-P[ ]?" + _QUOTE + _VALUE),
    Command(rb"htpasswd[ ]-[a-zA-Z]{0,4}b", rb"[^\s-]\S*[ ]\S+[ ]" + _QUOTE + _VALUE),
    Command(rb"net[ ]use", rb"(?:[^\s/]\S*[ ])?/user:\S+[ ]" + _QUOTE + _VALUE),
    Command(rb"gpg2?", rb"--passphrase[ =]" + _QUOTE + _VALUE),
    Command(rb"(?:sqlcmd|bcp|mosquitto_pub|mosquitto_sub)", rb"-P[ ]?" + _QUOTE + _VALUE),
    Command(rb"(?:cqlsh|beeline|clickhouse-client|rdesktop|influx)", rb"(?:-p|-password|--password)[ =]" + _QUOTE + _VALUE),
    Command(rb"xfreerdp", rb"/p:" + _QUOTE + _VALUE),
    Command(rb"lftp", rb"-u[ ]" + _QUOTE + rb"[^\s,]{1,64}," + _VALUE),
    Command(rb"(?:vault|op|argocd)[ ]login", _QUOTE + _VALUE),
    Command(
        rb"(?:aws|npm|yarn|git|pip|poetry|gcloud|composer|bundle)[ ]config(?:ure)?[ ]",
        rb"\S*(?i:secret|token|password|_auth)\S*[ ]" + _QUOTE + _VALUE,
    ),
    Command(rb"from-literal", rb"[= ][A-Za-z0-9_.-]{1,64}=" + _QUOTE + _VALUE),
    Command(rb"ConvertTo-SecureString", rb"(?:-String[ ])?" + _QUOTE + _VALUE),
    Command(rb"secret[ ]set", rb"(?:-b|--body)[ =]?" + _QUOTE + _VALUE),
)  # fmt: skip
PROGRAMS = rb"(?:" + b"|".join(command.program for command in COMMANDS) + rb")[ =]"
PIPES = rb"password-stdin|passphrase-fd|sudo[ ]-S|\|[ ]?chpasswd|--stdin"
_PROGRAM = compile_later(PROGRAMS)
_AT = tuple(
    (compile_later(command.program + rb"(?=[ =])"), compile_later(_OPTION + command.options)) for command in COMMANDS
)
_ECHO = compile_later(
    rb"(?:echo|printf|<<<)(?:[ ]-[neE]+)?(?:[ ]\\{0,15}[\"']?%s(?:\\+n)?\\{0,15}[\"']?)?[ ]?" + _QUOTE
    + rb"(?:[^\s:\"'\\|]{1,64}:(?=[^|]*chpasswd))?" + _VALUE + rb"\\{0,15}[\"']?[ ]*\|(?![^\n]*\n)"
)  # fmt: skip
_BEFORE_PIPE = 240


def examine_command(block: bytes, start: int) -> Examined | None:
    """The passwords in the arguments of a program that begins at a position."""
    if not begins_word(block, start) or not _PROGRAM().match(block, start):
        return None
    for program, options in _AT:
        if (named := program().match(block, start)) is not None:
            end = _line_end(block, named.end())
            found = list(_passwords(options(), block, named.end(), end))
            return found, found[-1].end if found else named.end()
    return None


def _passwords(options: re.Pattern[bytes], block: bytes, start: int, end: int) -> Iterator[Span]:
    # From the byte before, which belongs to the program or is the space before its first argument.
    text = block[start:end]
    for match in options.finditer(text):
        if is_given_password(match[1]):
            yield Span(start + match.start(1), start + match.end(1), "command-password")


def _line_end(block: bytes, start: int) -> int:
    found = _LINE_END().search(block, start, start + _LONGEST)
    # A path of Windows has backslashes, too; it is short, so a line that ends in it costs nothing.
    return found.start() if found and found.start() > start else min(len(block), start + _LONGEST)


def examine_pipe(block: bytes, start: int) -> Examined | None:
    """The password that is printed into a program which reads it, before the program's option at a position."""
    if not block.startswith(
        (b"password-stdin", b"passphrase-fd", b"sudo -S", b"|chpasswd", b"| chpasswd", b"--stdin"), start
    ):
        return None
    begin = max(0, start - _BEFORE_PIPE)
    text = block[begin : start + 12]
    spans = []
    for match in _ECHO().finditer(text):
        if is_given_password(match[1]):
            spans = [Span(begin + match.start(1), begin + match.end(1), "command-password")]
    return spans, start + 5
