"""Commands of which only the output is known, as in a foreign transcript: programs of many sorts, failed or not, and why."""

import pytest

from preheat.model.outcome import Cause, Status
from tests.outcomes.calls import ran

CASES: list[tuple[str, str, Status, Cause | None]] = [
    (
        "npm install",
        "npm error code ENOTFOUND\n"
        "npm error network request to https://registry failed, reason: getaddrinfo ENOTFOUND registry",
        "failed",
        "environment",
    ),
    (
        "npm ci",
        "npm error code EUSAGE\n"
        "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync",
        "failed",
        "mistake",
    ),
    (
        "pip install x",
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/lib'",
        "failed",
        "environment",
    ),
    ("apt-get install foo", "E: Unable to locate package foo", "failed", "environment"),
    (
        "docker ps",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "failed",
        "environment",
    ),
    (
        "git clone https://h/r",
        "Cloning into 'r'...\nfatal: unable to access 'https://h/r/': Could not resolve host: h",
        "failed",
        "environment",
    ),
    (
        "git rebase main",
        "error: cannot rebase: You have unstaged changes.\nerror: Please commit or stash them.",
        "failed",
        "mistake",
    ),
    (
        "git push",
        "To h:r.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'h:r.git'",
        "failed",
        "mistake",
    ),
    ("git commit -m x", "On branch main\nnothing to commit, working tree clean", "failed", "mistake"),
    ("python x.py --foo", "usage: x.py [-h]\nx.py: error: unrecognized arguments: --foo", "failed", "mistake"),
    (
        "node a.js",
        "node:internal/modules/cjs/loader:1080\n"
        "  throw err;\n"
        "  ^\n"
        "\n"
        "Error: Cannot find module './b'\n"
        "Require stack:\n"
        "- /a.js",
        "failed",
        None,
    ),
    (
        "psql -c 'select 1'",
        'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
        "failed",
        "environment",
    ),
    ("curl -s https://h/api", '{"ok":true}', "ok", None),
    ("kubectl get pods", "NAME   READY   STATUS    RESTARTS\nweb-1  0/1     Error     3", "ok", None),
    ("terraform plan", "No changes. Your infrastructure matches the configuration.", "ok", None),
    (
        "tail -50 app.log",
        '2026-01-01 ERROR failed to connect: timeout\nTraceback (most recent call last):\n  File "a"\nValueError: x',
        "ok",
        None,
    ),
    ("journalctl -u web | tail", "Jan 1 systemd: web.service: Failed with result 'exit-code'.", "ok", None),
    ("git status", "On branch main\nnothing to commit, working tree clean", "ok", None),
    ("git log -3", "commit abc\n    fix: error: handle failure", "ok", None),
    ("./run.sh", "./run.sh: line 3: foo: command not found", "failed", "environment"),
    (
        "java -jar a.jar",
        'Exception in thread "main" java.lang.NullPointerException\n\tat A.main(A.java:3)',
        "failed",
        "finding",
    ),
    (
        "ruby a.rb",
        "a.rb:3:in `<main>': undefined local variable or method `x' for main:Object (NameError)",
        "failed",
        None,
    ),
    ("php a.php", "PHP Fatal error:  Uncaught Error: Call to undefined function x() in /a.php:3", "failed", None),
    (
        "go run .",
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()",
        "failed",
        "finding",
    ),
    (
        "cargo run",
        "thread 'main' panicked at src/main.rs:3:5:\nboom\nnote: run with `RUST_BACKTRACE=1`",
        "failed",
        "finding",
    ),
    (
        "make build",
        "gcc -o a a.c\na.c:3:5: error: expected ';' before '}' token\nmake: *** [Makefile:2: a] Error 1",
        "failed",
        "finding",
    ),
    ("sudo systemctl restart x", "Failed to restart x.service: Unit x.service not found.", "failed", None),
    ("ssh host ls", "ssh: connect to host host port 22: Connection timed out", "failed", "environment"),
    ("scp a h:", "h: Permission denied (publickey).\nlost connection", "failed", "environment"),
    ("cp a b", "cp: cannot stat 'a': No such file or directory", "failed", "mistake"),
    ("mkdir x", "mkdir: cannot create directory 'x': File exists", "failed", "mistake"),
    ("df -h", "Filesystem Size Used\n/dev/sda1 10G 10G", "ok", None),
    ("echo 'error: nothing' > /dev/null; ls", "a.txt", "ok", None),
    (
        "Get-ChildItem C:\\nope",
        "Get-ChildItem : Cannot find path 'C:\\nope' because it does not exist.\nAt line:1 char:1",
        "failed",
        "mistake",
    ),
    ("dir nope", "File Not Found", "failed", "mistake"),
    (
        "aws s3 ls",
        'Unable to locate credentials. You can configure credentials by running "aws configure".',
        "failed",
        "environment",
    ),
    (
        "gh pr create",
        "pull request create failed: GraphQL: No commits between main and x (createPullRequest)",
        "failed",
        "mistake",
    ),
    ("gh api x", "gh: Not Found (HTTP 404)", "failed", "mistake"),
    ("yarn add x", 'error An unexpected error occurred: "https://registry/x: Not found".', "failed", None),
    ("bundle install", "Could not find gem 'x' in rubygems repository", "failed", None),
    ("mvn package", "[ERROR] Failed to execute goal on project a: Could not resolve dependencies", "failed", None),
    ("pytest", "/usr/bin/python: No module named pytest", "failed", "environment"),
    ("timeout 5 ./x", "Terminated", "failed", None),
]


@pytest.mark.parametrize(("command", "text", "status", "cause"), CASES, ids=[case[0] for case in CASES])
def test_the_output_alone_is_enough(command: str, text: str, status: Status, cause: Cause | None) -> None:
    """A cause that is not given is one that could be argued about."""
    outcome = ran(command, text)
    assert outcome.status == status, outcome
    assert cause is None or outcome.cause == cause, outcome
