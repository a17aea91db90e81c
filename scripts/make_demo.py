"""Records the sessions of `preheat demo` anew: the real Codex program works on a small shop, with a scripted model.

    python scripts/make_demo.py

Needs `codex` (`./dev agents codex`), `node`, `npm` and `pnpm` on the PATH. Eight sessions run without Preheat. Then Preheat reads
and learns from them, is installed in Codex, and the ninth runs twice: without and with it. What the model does is written down in
`scripts/shop_sessions.py`; what the programs print is theirs. The machine's paths are replaced, ids and times stay.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [CHECKOUT, os.path.join(CHECKOUT, "src")]

from preheat.testing.model_server import ModelServer, Reply  # noqa: E402 - the checkout has to be found first
from scripts.codex_fixtures import scrub_line  # noqa: E402
from scripts.shop_sessions import EARLIER, NINTH, NinthModel, script_of  # noqa: E402
from tests.programs.codex import CodexHome, find_codex, thread_of  # noqa: E402

SHOP = os.path.join(CHECKOUT, "scripts", "shop")
TARGET = os.path.join(CHECKOUT, "src", "preheat", "samples")
RECORDED_FOLDER = "/home/person/shop"
TRUST = "--dangerously-bypass-hook-trust"


class ShopHome(CodexHome):
    """Codex in a home of its own, with the shop as its project and `pnpm` on the PATH."""

    @property
    def environment(self) -> dict[str, str]:
        found = super().environment
        pnpm = os.path.dirname(shutil.which("pnpm") or "")
        # A login shell takes the PATH of the system: the profile of this home puts it back.
        with open(os.path.join(self.home, ".bash_profile"), "w", encoding="utf-8") as stream:
            stream.write(f'export PATH="{pnpm}:{found["PATH"]}"\n')
        return {**found, "PATH": f"{pnpm}:{found['PATH']}"}


def record(folder: str, target: str) -> None:
    """Run all sessions in a folder; write the transcripts and the project's files as the eight left them."""
    home = ShopHome(folder, "http://127.0.0.1:9")
    shutil.copytree(SHOP, home.project, dirs_exist_ok=True)
    for number, work in enumerate(EARLIER, 1):
        with ModelServer(script_of(work)) as server:
            home = ShopHome(folder, server.url)
            finished = home.exec(work.prompt)
            assert server.unused_replies == 0, "the session ended before its script"
        write_session(home, thread_of(finished), os.path.join(target, "sessions", f"{number}.jsonl"))
    shutil.copytree(home.project, os.path.join(target, "shop"))
    record_ninth(folder, target, "cold")
    shutil.rmtree(home.project)
    shutil.copytree(os.path.join(target, "shop"), home.project)
    data = os.path.join(folder, "data")
    os.makedirs(data)
    with open(os.path.join(data, "settings.toml"), "w", encoding="utf-8") as stream:
        stream.write("[experiment]\nholdout = 0\nwithhold_advice = 0\n")
    os.remove(max(home.rollouts(), key=os.path.getmtime))  # the ninth session teaches nothing
    for words in (["sync"], ["learn"], ["install", "codex"], ["tree", "update", "."], ["serve"]):
        run_preheat(home, data, *words)
    try:
        # As on a machine where another session has been before: the daemon runs and knows the folder.
        with ModelServer([Reply("Hello.")]) as server:
            ShopHome(folder, server.url).exec("Hello.", TRUST)
        record_ninth(folder, target, "warm", TRUST)
    finally:
        run_preheat(home, data, "serve", "--stop")


def record_ninth(folder: str, target: str, name: str, *options: str) -> None:
    """The ninth session, in which the model goes by what it is told."""
    with ModelServer(decide=NinthModel()) as server:
        home = ShopHome(folder, server.url)
        finished = home.exec(NINTH.prompt, *options)
    write_session(home, thread_of(finished), os.path.join(target, "ninth", f"{name}.jsonl"))


def run_preheat(home: CodexHome, data: str, *words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "preheat", *words],
        env={**home.environment, "PREHEAT_HOME": data, "PYTHONPATH": os.path.join(CHECKOUT, "src")},
        cwd=home.project, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def write_session(home: CodexHome, thread: str, target: str) -> None:
    """A transcript with the machine's paths replaced."""
    paths = {home.project: RECORDED_FOLDER, home.home: "/home/person", home.folder: "/home"}
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(home.rollout(thread), encoding="utf-8") as stream:
        lines = [scrub_line(line, paths) for line in stream]
    with open(target, "w", encoding="utf-8") as stream:
        stream.write("".join(f"{line}\n" for line in lines))


def main() -> int:
    for name, found in (("codex", find_codex()), ("pnpm", shutil.which("pnpm")), ("npm", shutil.which("npm"))):
        if not found:
            print(f"make_demo: no `{name}` program", file=sys.stderr)
            return 2
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="demo-") as work:
        made = os.path.join(work, "made")
        record(os.path.join(work, "machine"), made)
        shutil.rmtree(TARGET, ignore_errors=True)
        shutil.copytree(made, TARGET)
    print(f"make_demo: ten sessions in {time.time() - began:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
