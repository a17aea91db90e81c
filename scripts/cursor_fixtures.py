"""Makes the fixtures of Cursor, which cannot be run here: a database built by hand, and transcripts written by hand.

`make_fixtures.py` calls `make`. The transcripts are kept as they are.
"""

import os
import shutil

from tests.agents.cursor_database import CursorDatabase

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(CHECKOUT, "tests", "fixtures", "cursor", "projects")
MAIN, CHILD, FIRST = "c0ffee00-0000-4000-8000-000000000001", "c0ffee00-0000-4000-8000-000000000002", "composer-first"


def make(folder: str) -> None:
    """Make the database and take the transcripts over."""
    shutil.copytree(KEPT, os.path.join(folder, "projects"))
    with CursorDatabase(os.path.join(folder, "state.vscdb")) as database:
        _agent(database)
        _subagent(database)
        _first_version(database)
        database.composer("c0ffee00-0000-4000-8000-00000000ffff")  # opened, nothing said


def _agent(database: CursorDatabase) -> None:
    database.composer(
        MAIN,
        name="The late clock",
        text="not sent yet",
        unifiedMode="agent",
        modelConfig={"modelName": "scripted-1"},
        workspaceIdentifier={"id": "0123", "uri": {"fsPath": "/w/proj"}},
        createdOnBranch="main",
        blobEncryptionKey="left out",
    )
    database.bubble(MAIN, "b1", 1, "Why is the clock late?", workspaceUris=["file:///w/proj"])
    database.bubble(MAIN, "b2", 2, thinking={"text": "Look at it."})
    database.bubble(MAIN, "b3", 2, "I look.", tokenCount={"inputTokens": 120, "outputTokens": 9})
    output = {"output": "ls: clocks: No such file or directory", "rejected": False, "exitCodeV2": 2}
    command = "run_terminal_command_v2"
    database.call(MAIN, "b4", command, {"command": "ls clocks"}, status="completed", result=output)
    trouble = {"clientVisibleErrorMessage": "File not found", "modelVisibleErrorMessage": "`absent.py` is not there"}
    database.call(MAIN, "b5", "read_file_v2", {"path": "absent.py"}, status="error", error=trouble)
    refused = {"output": "", "rejected": True}
    database.call(
        MAIN, "b6", command, {"command": "rm -r /w"}, status="completed", userDecision="rejected", result=refused
    )
    database.call(MAIN, "b7", "edit_file_v2", {"path": "clock.py"}, status="cancelled")
    database.call(MAIN, "b8", "task_v2", {"prompt": "Count."}, status="completed", result={"agentId": CHILD})
    database.call(MAIN, "b9", "grep", {"pattern": "tick"}, status="loading")
    database.bubble(MAIN, "b10", 2, "It counts from one.")


def _subagent(database: CursorDatabase) -> None:
    database.composer(CHILD, subagentInfo={"parentComposerId": MAIN, "subagentTypeName": "explore"})
    database.bubble(CHILD, "s1", 1, "Count.")
    database.bubble(CHILD, "s2", 2, "One.")


def _first_version(database: CursorDatabase) -> None:
    """Messages inside the conversation, tools beside them as JSON text."""
    tools = '{"d2":{"tool":5,"name":"read_file","params":"{\\"path\\":\\"a.py\\"}","result":"print(1)","status":"completed"}}'
    database.put(
        f"composerData:{FIRST}",
        {
            "composerId": FIRST,
            "createdAt": 1_735_000_000_000,
            "conversation": [
                {"bubbleId": "d1", "type": 1, "text": "Read it."},
                {"bubbleId": "d2", "type": 2, "text": ""},
                {"bubbleId": "d3", "type": 2, "text": "Read."},
            ],
            "capabilities": [{"type": 15, "data": {"bubbleDataMap": tools}}],
        },
    )
