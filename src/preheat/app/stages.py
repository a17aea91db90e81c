"""The order of the stages, written once. Every surface (command line, pages, plugins) calls these functions.

Light to import: what a call needs is imported by it, because a sync that finds nothing new must cost next to nothing.
"""

from preheat.app.analysis import JudgeReport, assess, judge, judge_archive
from preheat.app.compression import compress, compress_all
from preheat.app.context import (
    formats,
    known_lessons,
    note_use,
    provision,
    render,
    resume_packet,
)
from preheat.app.learning import LearnReport, Study, TaskReport, learn, study
from preheat.app.projects import project_named
from preheat.app.sessions import (
    AgentReport,
    SyncReport,
    forget,
    has_archive,
    load,
    opened,
    raw_bytes,
    sync,
)

__all__ = [
    "AgentReport",
    "JudgeReport",
    "LearnReport",
    "Study",
    "SyncReport",
    "TaskReport",
    "assess",
    "compress",
    "compress_all",
    "forget",
    "formats",
    "has_archive",
    "judge",
    "judge_archive",
    "known_lessons",
    "learn",
    "load",
    "note_use",
    "opened",
    "project_named",
    "provision",
    "raw_bytes",
    "render",
    "resume_packet",
    "study",
    "sync",
]
