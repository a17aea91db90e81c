"""A stand-in for an agent's program: does what a prompt says, and writes a transcript where the agent would.

sh: COMMAND     runs it and records how it ended
sleep           does not come back
crash           ends badly, without a transcript
"""

import os
import subprocess
import sys
import time
from uuid import uuid4

from preheat.testing.builders import ClaudeTranscript


def main() -> int:
    prompt = sys.stdin.read()
    with open(os.environ["ASKED"], "a", encoding="utf-8") as stream:
        stream.write(prompt.replace("\n", " ") + "\n")
    transcript = ClaudeTranscript(session=str(uuid4()), project=os.getcwd(), started=time.time()).prompt(prompt)
    for line in prompt.splitlines():
        if line == "crash":
            print("the model is not there", file=sys.stderr)
            return 3
        if line == "sleep":
            time.sleep(3600)
        if line.startswith("sh: "):
            done = subprocess.run(["sh", "-c", line[4:]], capture_output=True, text=True, check=False)
            transcript = transcript.run(line[4:], done.stdout + done.stderr, done.returncode)
    transcript.answer("Done.").write(os.path.join(os.environ["CLAUDE_CONFIG_DIR"], "projects"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
