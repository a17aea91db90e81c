"""Which JSON fields of the commands have come or gone since an earlier commit, by running both on the sample sessions.

    python scripts/changed_json.py 857cd21        (version 0.1.0)

What it prints belongs on the migration page. It runs with the present environment, which must have what the earlier code needs.
"""

import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from typing import Any

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLES = os.path.join(CHECKOUT, "tests", "fixtures", "claude_code")
COMMANDS = """\
sync SAMPLES
sessions list
sessions show latest
sessions search test
profile
profile latest
mistakes --min-sessions 1
learn
lessons list --all
warm start --task x
warm extract 11111111 --name one
warm extract latest --name two
warm list
warm show one
warm history one
warm test one x
warm diff one two
warm load one
warm auto --min-calls 1 --min-sessions 1
compress latest
compress latest --compare
compress-check
compare 11111111 latest
replay latest
why latest
scorecard latest
status
install codex --dry-run
doctor
experiment status
experiment list
experiment start mine
experiment report mine
experiment explain
experiment stop mine
ledger
rate good latest
watch --once
tool
"""


def shape(value: Any, path: str = "") -> set[str]:
    """Every field of a JSON value, by its way down: `.cells[].rate`."""
    if isinstance(value, dict):
        return {place for key, inner in value.items() for place in ({f"{path}.{key}"} | shape(inner, f"{path}.{key}"))}
    if isinstance(value, list):
        return {place for inner in value for place in shape(inner, f"{path}[]")}
    return set()


def outermost(fields: set[str]) -> set[str]:
    """Without those that stand inside another of them."""
    return {field for field in fields if not any(field.startswith((f"{other}.", f"{other}[")) for other in fields)}


def answers(source: str, folder: str) -> dict[str, tuple[int, set[str]]]:
    """By command, its exit code and the shape of its JSON, in a home of its own."""
    home = os.path.join(folder, "home")
    os.makedirs(home)
    environment = {"HOME": home, "PREHEAT_HOME": f"{home}/data", "PYTHONPATH": source, "PATH": os.environ["PATH"]}
    found = {}
    for line in COMMANDS.splitlines():
        words = shlex.split(line.replace("SAMPLES", SAMPLES))
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "preheat", *words, "--json"],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
        )
        try:
            found[line] = ran.returncode, shape(json.loads(ran.stdout))
        except json.JSONDecodeError:
            found[line] = ran.returncode, set()
    return found


def main() -> int:
    (commit,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        earlier = os.path.join(folder, "earlier")
        packed = subprocess.check_output(["git", "archive", commit, "src"], cwd=CHECKOUT)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(earlier, **safe)
        before = answers(os.path.join(earlier, "src"), earlier)
        now = answers(os.path.join(CHECKOUT, "src"), os.path.join(folder, "now"))
    for line, (code, fields) in now.items():
        code_before, fields_before = before[line]
        if (code, fields) != (code_before, fields_before):
            print(f"preheat {line}: exit code {code_before} -> {code}")
            for sign, changed in (("-", fields_before - fields), ("+", fields - fields_before)):
                for field in sorted(outermost(changed)):
                    print(f"  {sign} {field}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
