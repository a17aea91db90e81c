"""Patterns of lines that tell how something went, as tables of regular expressions. Each is anchored at a line's beginning.

Knows nothing of calls: `lines.py` says which table is for what.
"""

import re
from collections.abc import Iterator

import re2


class PatternSet:
    """Many forms of a line. Most outputs have none of them, which an engine that tries all at once finds out quickly."""

    def __init__(self, *forms: str, ignore_case: bool = False) -> None:
        self._pattern = re.compile("|".join(forms), re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
        beginnings = "|".join(form.removesuffix(".*") for form in forms)
        self.beginnings = f"(?{'i' if ignore_case else ''}m:{beginnings})"
        self._filter = re2.compile(self.beginnings)

    def search(self, text: str) -> "re.Match[str] | None":
        """The first line of one of the forms."""
        return None if self._filter.search(text) is None else self._pattern.search(text)

    def finditer(self, text: str) -> "Iterator[re.Match[str]]":
        """All lines of one of the forms."""
        return self._pattern.finditer(text)


def _any(*forms: str, flags: int = 0) -> "re.Pattern[str]":
    return re.compile("|".join(forms), re.MULTILINE | flags)


SHELL = PatternSet(
    r"^(?:(?:\S*/)?(?:ba|z|da|k|c|tc|fi|a)?sh(?:\[\d+\])?|\(eval\)|-c)(?::\w+)?:(?: line)? ?\d*:? ?.*?"
    r"(?:command not found|no such file or directory|permission denied|is a directory|not a directory|syntax error"
    r"|unexpected (?:EOF|end of file|token)|bad substitution|no matches found|parse error|event not found|unbound variable"
    r"|parameter not set|read-only variable|cannot (?:create|execute|open)|not found\s*$|can't cd to|ambiguous redirect"
    r"|not a valid identifier|argument list too long|expression expected|invalid option|bad (?:option|pattern|math)"
    r"|too many arguments|job not found|number expected|unmatched)[^\n]*",
    r"^(?:(?:\S*/)?(?:ba|z|da|k)sh|\(eval\))(?::| line |: line )\d+: [^\dw\s][^\n]+",
    r"^'[^'\n]{1,200}' is not recognized as an internal or external command[^\n]*",
    r"^At line:\d+ char:\d+\s*$",
    r"^[\w./-]{1,100} ?: The term '[^'\n]{1,200}' is not recognized[^\n]*",
    r"^(?:Segmentation fault|Killed|Terminated|Aborted|Bus error|Illegal instruction)(?: \(core dumped\))?\s*$",
    ignore_case=True,
)
"""What the shell itself says; of a program that was ended from outside without saying its own name."""
COMPLAINT = re.compile(
    r"no such file|not found|permission denied|cannot|can't|could not|couldn't|unable|failed|invalid|illegal|unrecognized"
    r"|unknown|missing|refused|not permitted|is a directory|not a directory|no space|timed out|error|too many|not a git"
    r"|bad |unexpected|usage|not allowed|unterminated|no module|\(\d+\) |read-only|not empty|denied|expected|requires|ambiguous",
    re.IGNORECASE,
)
"""What the rest of a line says that begins with a program's name."""
NO_COMPLAINT = re.compile(r"binary file|: warning:|^warning", re.IGNORECASE)
ADDED = re.compile(r"\s*(?:usage: |exit code:? -?\d+$|try '.*--help|shell cwd was reset)", re.IGNORECASE)
"""Lines that come along with a complaint."""

VERDICT = PatternSet(
    # Python
    r"^=+ (?:.*[ ,])?[1-9]\d* (?:failed|errors?)\b.*",
    r"^[1-9]\d* (?:failed|errors?)(?:, [1-9]\d* \w+)*(?: in [\d.]+s.*)?$",
    r"^FAILED \((?:failures|errors)=.*",
    r"^(?:FAILED|ERROR) [\w./\\-]+(?:::| - ).*",
    r"^!+ (?:Interrupted|stopping after).*",
    r"^(?:ERROR|FAIL): test\w* \(.*",
    r"^ERROR(?: collecting|: (?:usage|file or directory not found|not found|found no collectors)).*",
    r"^ImportError while loading conftest.*",
    r"^[= ]*tests finished: .*[1-9]\d* (?:failed|exceptions).*",
    r"^\S+ FAILED +\[[ \d]+%\].*",
    r"^SystemCheckError.*",
    r"^[1-9]\d* errors?, \d+ warnings?.*",
    # Go
    r"^vet: .*",
    r"^pattern \S+: .*",
    r"^\s+imports \S+ from \S+: .*",
    r"^\s*--- FAIL: .*",
    r"^FAIL(?:\s+\S.*)?$",
    r"^go: (?:errors|cannot|no |updates|go\.mod|unknown) ?.*",
    # JavaScript
    r"^\s*(?:Tests|Test Files|Test Suites|Suites)\b:?\s.*\b[1-9]\d* failed.*",
    r"^\s*FAIL\s+\S.*",
    r"^\s*[1-9]\d* fail(?:ing|ed|ures?)?\s*(?:\(.*\))?$",
    r"^\s*[1-9]\d* errors?$",
    r"^\(fail\) .*",
    r"^\s*# fail [1-9].*",
    r"^not ok \d.*",
    r"^.*(?:: error|\(\d+,\d+\): error| - error) TS\d+:.*",
    r"^error TS\d+:.*",
    r"^Found [1-9]\d* errors?\b.*",
    r"^\s*[✖✗×] [1-9]\d* (?:problems? \([1-9]\d* )?errors?.*",
    r"^\s+\d+:\d+\s+error\s.*",
    r"^\[warn\] Code style issues.*",
    r"^\s*[×✖] Some (?:errors|warnings) were emitted.*",
    r"^npm (?:ERR!|error) .*",
    r"^\W{0,3}(?:\[?ELIFECYCLE\]?|ERR_PNPM\w*).*",
    r"^error (?:Command failed|Couldn't|An unexpected).*",
    r"^error: [Ss]cript .*",
    r"^(?:Error: )?(?:Build|Compilation|Transform) failed\b.*",
    r"^Failed to compile\b.*",
    r"^[✘✖] \[ERROR\].*",
    r"^error during build:.*",
    r"^\s*ERROR  \S.*",
    # C, Rust, Java, .NET, Swift
    r"^\S+:\d+(?::\d+)?:? (?:fatal )?error:? .*",
    r"^error\[E\d+\]: .*",
    r"^error: (?:could not compile|test failed|aborting due to|build failed).*",
    r"^test result: FAILED.*",
    r"^(?:\S*make|ninja)(?:\[\d+\])?: \*\*\* .*",
    r"^ninja: (?:build stopped|error).*",
    r"^CMake Error.*",
    r"^\d{1,2}% tests passed, [1-9]\d* tests failed.*",
    r"^FAILED: .*",
    r"^(?:collect2|ld|clang): error.*",
    r"^\[ERROR\] (?:Failed|Tests|COMPILATION|BUILD|There|/|\S+\.java).*",
    r"^(?:\[INFO\] )?BUILD FAIL(?:URE|ED)\b.*",
    r"^FAILURE: Build.*",
    r"^> Task \S+ FAILED.*",
    r"^\[error\] (?:Failed|Total|\(|\S+\.scala).*",
    r"^\d+:\d+ .*Some tests failed.*",
    r"^.*: error (?:CS|MSB|NETSDK|FS|BC|LNK|C)\d+:.*",
    r"^Build FAILED.*",
    r"^\s*Failed!\s+- .*",
    r"^\*\* (?:BUILD|TEST|ARCHIVE)(?: \w+)* FAILED \*\*.*",
    # Ruby, PHP, Elixir
    r"^\d+ examples?, [1-9]\d* failures?.*",
    r"^\d+ (?:runs|tests), .*[1-9]\d* (?:failures|errors).*",
    r"^(?:FAILURES!|ERRORS!|There (?:was|were) \d+ (?:failure|error)s?:).*",
    r"^(?:PHP )?(?:Fatal|Parse) error: .*",
    r"^\d+ files? inspected, [1-9]\d* offenses?.*",
    r"^\s*\[ERROR\] Found [1-9]\d* errors?.*",
    r"^ERROR: failed to (?:solve|build).*",
    r"^\*\* \(\w*Error\).*",
    # Linters, formatters, runners of tasks
    r"^\S+\.py:\d+:\d+: [A-Z]{1,4}\d{3,4}:? .*",
    r"^\*{5,} Module .*",
    r"^In \S+ line \d+:$",
    r"^(?:\d+ files? would be reformatted|[Ww]ould reformat:? ).*",
    r"^[1-9]\d* issues?(?::| found).*",
    r"^.*\.{3,}Failed$",
    r"^Oh no! .*",
    r"^Diff in \S.*:\d+:?$",
    r"^(?:nox|tox) > .*failed.*",
    r"^\s+\S+: (?:FAIL|commands failed).*",
    r"^ERROR: (?:InvocationError|task|Test).*",
    r"^.*\bexited with (?:code|status)[: ] ?[1-9].*",
    r"^[Ee]xit status [1-9]\d*$",
    r"^(?:\[\S+\] )?ERROR task failed.*",
    r"^(?:error|Error|ERROR): (?:Recipe|[Tt]ask|[Cc]ommand) .*",
    r"^(?:\d+ )?(?:[Tt]ests?|[Cc]hecks?|[Ll]inting) failed\b.*",
)
"""How test runners, compilers, type checkers and linters say that not all is well."""

DETAIL = PatternSet(
    r"^\S+\.go:\d+:\d+: .*",
    r"^\S+:\d+:\d+: .+ \([\w-]+\)$",
    r"^panic: .*",
    r"^go: .*(?:not found|cannot|no such|missing|requires|invalid|error|ambiguous|denied|failed|time ?out|unknown|disabled).*",
    r"^(?:[A-Z]\w*)?Error(?: \[\w+\])?: .*",
    r"^error: .*",
    r"^\s*[×✖] [^0-9].*(?:error|fail|unable|could not).*",
    r"^ERROR in .*",
    r"^.*undefined reference to .*",
    r"^\s*Error: \S.*",
    r"^E   \S.*",
)
"""What else a check prints about an error. Tests of error handling print such lines too, and pass."""

PASSED = _any(
    r"^=+ .*\b[1-9]\d* passed\b(?!.*\b(?:failed|error)).*",
    r"^[1-9]\d* passed\b(?!.*\b(?:failed|error)).*",
    r"^OK(?: \(.*\))?$",
    r"^PASS$",
    r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\)).*",
    r"^test result: ok.*",
    r"^\s*Tests:?\s+[1-9]\d* passed(?!.*failed).*",
    r"^\s*0 fail(?:ed|ing|ures?)?$",
    r"^# fail 0$",
    r"^\s*[1-9]\d* passing\b.*",
    r"^(?:\[INFO\] )?BUILD SUCCESS.*",
    r"^All checks passed.*",
    r"^Success: no issues found.*",
    r"^0 (?:issues|errors|problems).*",
    r"^Found 0 (?:errors|issues).*",
    r"^Checked \d+ files? in .*No fixes applied.*",
    r"^\d+ examples?, 0 failures.*",
    r"^✓ built in .*",
    r"^Build succeeded.*",
)
"""How a check says that all is well."""

NESTED = _any(
    r"^error: script \S+ exited with code [1-9].*",
    r"^error Command failed with exit code [1-9].*",
    r"^\s*ELIFECYCLE\b.*",
    r"^husky - .* script failed.*",
)
"""How a script says that it failed, whatever the command around it made of that."""
NESTED_WORDS = ("exited with code", "Command failed", "ELIFECYCLE", "script failed")

RUN = PatternSet(
    r"^(?:(?:node|npm|python\S*|ruby|perl|php|java)\b[^:\n]{0,60}: )?(?:can't open file|No module named|cannot find module).*",
    r"^\S*python[\d.]*: (?:can't open file|No module named|Error while finding).*",
    r"^(?:Error|error): Cannot find (?:module|package) .*",
    r"^node:internal/.*",
    r"^\s+throw \w+;?$",
    r"^Exception in thread .*",
    r"^thread '.*' panicked at.*",
    r"^panic: .*",
    r"^goroutine \d+ \[running\].*",
    r"^npm (?:ERR!|error) .*",
    r"^exit status [1-9]\d*$",
    r"^(?:ERROR|E): (?:Could not|No matching|Unable|Failed|Cannot|Package|The repository).*",
    r"^(?:curl|ssh|scp|wget|rsync|git|gh|docker|kubectl|psql|sqlite3): .*(?:\(\d+\)|[Ee]rror|denied|refused|not|fail).*",
    r"^(?:\S+: )?(?:Host key verification failed|Permission denied \(publickey).*",
    r"^(?:\S+\.rb|-e):\d+:in .*\([\w:]+\)$",
    r"^Error response from daemon.*",
    r"^Cannot connect to the Docker daemon.*",
    r"^Error from server.*",
    r"^psql: error.*",
    r"^ERROR:  .*",
    r"^(?:GraphQL|HTTP \d{3}): .*",
    r"^(?:\S+ )?[Cc]onnection (?:refused|reset|timed out).*",
    r"^.*: error: (?:unrecognized arguments|the following arguments|argument |ambiguous option|invalid choice).*",
    r"^(?:[Uu]nknown|[Uu]nrecognized|[Ii]nvalid) (?:command|option|flag|argument|subcommand|shorthand flag)\b.*",
    r"^flag provided but not defined.*",
    r"^(?:\S+ )?[Cc]ommand timed out.*",
    r"^(?:Syntax|Indentation)Error: .*",
    r"^java\.\w+(?:\.\w+)*(?:Exception|Error)\b.*",
    r"^\S+: command not found.*",
    r"^Unhandled (?:exception|rejection).*",
    r"^\d+ out of \d+ hunks? FAILED.*",
    r"^\{\"errors\":\[.*",
)
"""How interpreters and programs end that fail."""

MISSING = _any(
    r"^.{0,80}\bModuleNotFoundError: No module named '\w+'\s*$",
    r"^.{0,80}\b[Cc]annot find (?:module|package) '(?:@[a-z][\w.-]*/)?[a-z][\w.-]*'.*",
)
"""A module that is not installed: neither a path, nor a part of a package, nor an alias within the project."""

PERL = re.compile(r"^.* at (?:-e|\S+\.p[lm]) line \d+[.,].*", re.MULTILINE)
FAILED_CHECK = re.compile(r"^[^\t\n]+\tfail\t.*", re.MULTILINE)
"""Looked for only where plain words of them stand: forms with an open beginning would slow all others down."""

THROWN = PatternSet(r"^(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?: .*")
"""What stands above the frames of an exception that was thrown to the top; the same line alone may be anything."""
FRAME = "\n    at "

VCS = PatternSet(
    r"^fatal: .*",
    r"^error: .*",
    r"^CONFLICT \(.*",
    r"^ ! \[(?:remote )?(?:rejected|remote failure)\].*",
    r"^Automatic merge failed.*",
    r"^The following paths are ignored by one of your .*",
    r"^(?:GraphQL|HTTP \d{3}): .*",
    r"^(?:failed to|could not) .*",
    r"^no pull requests found.*",
    r"^remote: (?:error|fatal).*",
    r"^unknown (?:command|flag|shorthand).*",
    r"^pull request create failed.*",
    r"^husky - .*(?:failed|exited).*",
    r"^Aborting$",
    r"^See git-[\w-]+\(1\) for details.*",
    r"^X Pull request .*",
)
"""How version control refuses, or a forge reports on its checks."""
NOTHING_TO_COMMIT = _any(r"^(?:nothing to commit|nothing added to commit|no changes added to commit).*")
"""How a commit refuses; `git status` and others say the same, and mean nothing by it."""
VCS_DONE = _any(
    r"^\[[^\]\n]+ [0-9a-f]{7,}\] ",
    r"^\s+\+?\s*[0-9a-f]{7,}\.{2,3}[0-9a-f]{7,}\s+\S+ -> ",
    r"^ \* \[new (?:branch|tag)\]",
    r"^(?:Successfully rebased|Fast-forward$|Already up to date|Everything up-to-date|Merge made by|Deleted branch )",
    r"^https://\S+/pull/\d+$",
)
"""What it says when it has done something that lasts."""
VCS_REFUSED = _any(r"^CONFLICT \(", r"^ ! \[", r"^fatal: ", r"^error: failed to push", r"script failed \(code")

EDGE = re.compile(
    r"[\w./-]{1,30} (?:ERROR\b|error: ).*|npm (?:ERR!|error) .*|\W{0,3}(?:Blocked|BLOCKED)\b.*"
    r"|(?:[\w./-]{1,60}: )?(?:fatal |internal |unexpected )?(?:error|ERROR|Error|FATAL|FAILED|Failed|failed|failure)\b"
    r"(?:\[\w+\])?[:!]? ?\S.*"
    r"|[\w.]*(?:Error|Exception)(?:: .*)?$|[Uu]sage: .*|[❌✗✘✖] .*"
    r"|(?:Could not|Cannot|Unable to|Invalid|Unknown|No such|Unrecognized) .*|File Not Found$|aborted: .*"
    r"|E(?:NO[A-Z]+|ACCES|PERM|EXIST|INVAL|CONN[A-Z]+|TIMEDOUT|ISDIR|MFILE|BUSY|PIPE|ADDRINUSE|ROFS): .*"
)
"""How a program may begin or end that fails, when nothing more particular is known: likely, not sure."""
WHOLE = re.compile(
    r"\b(?:not found|no such|cannot|can't|could not|couldn't|unable to|failed|invalid|(?:unknown|unrecogni[sz]ed) \w+|refused"
    r"|denied|not permitted|already exists|timed out|error|not (?:a|an|allowed|supported|available|provided|mergeable|logged)"
    r"|no \w+(?: \w+)? (?:reported|provided|given|available)|accepts (?:at most|at least|\d+)|expected .{1,80} got"
    r"|required|must|there (?:is|are) no|aborted|still in progress|logged out)\b",
    re.IGNORECASE,
)
"""What a program says that has nothing else to say: only where this is its whole output."""
NAMES = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|\([^()\n]*\)|\S*[\w][/\-_][\w]\S*")
"""Names and quotations: their words say nothing about how the program fared."""
PROSE = re.compile(r"[^\t{}\[\]<>|=]{0,300}$")
"""One line of prose: no table, no value, no code."""
USAGE = _any(r"^\s*[Uu](?:sage|SAGE): ?.*")
ECHO = re.compile(r"(?:\$|>|\+|Run:|Running) ")
"""The line in which a runner of tasks repeats the command."""
PREFIX = _any(r"^(?:\[[\w:./@-]{1,60}\]|[@\w./-]{1,60}(?::| )[A-Za-z][\w:-]{1,40}:)(?: |$)")
"""What runners of several tasks put before every line, the task's name."""
FINE = re.compile(
    r"(?:\bwarn(?:ing)?\b|error: \(none\)|"
    r"0 errors?|no errors?|errors?: 0|0 failed|failed: 0|error handling|without errors?)(?!\w)",
    re.IGNORECASE,
)

TRACEBACK = re.compile(r"^.{0,200}Traceback \(most recent call last\):$", re.MULTILINE)
LEFT = re.compile(r"^[^\s|+^~].*$", re.MULTILINE)
EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?::.*)?")
RAISED = re.compile(r"\s|[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b: |E  |FAILED |ERROR ")
"""Lines of a traceback or of a test report: these tell an exception because nobody caught it."""
CAUGHT = _any(r"^(?:.{0,40}\b)?(?:caught|as expected|expected (?:error|exception))\b", flags=re.IGNORECASE)
SYNTAX = _any(
    r'^\s+File "[^"\n]*", line \d+[^\n]*\n(?:[^\n]*\n){0,3}?((?:Syntax|Indentation|Tab)Error: [^\n]*)',
)

NOTABLE = re2.compile(
    "|".join(each.beginnings for each in (SHELL, VERDICT, DETAIL, RUN, THROWN, VCS)) + "|Traceback|Error: "
)
"""Any of them: an output that has none is passed in one go."""
