"""The order of the stages, written once. Every surface (command line, pages, plugins) calls these functions.

Light to import: what a call needs is imported by it, because a sync that finds nothing new must cost next to nothing.
"""

from preheat.app.analysis import AnalysisReport, analyse_archive
from preheat.app.assessment import assess, judge
from preheat.app.compression import compress, compress_all
from preheat.app.context import (
    formats,
    keep_template,
    known_lessons,
    note_use,
    project_named,
    provision,
    render,
    resume_packet,
)
from preheat.app.learning import LearnReport, Study, TaskReport, learn, study
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
    "AnalysisReport",
    "LearnReport",
    "Study",
    "SyncReport",
    "TaskReport",
    "analyse_archive",
    "assess",
    "compress",
    "compress_all",
    "forget",
    "formats",
    "has_archive",
    "judge",
    "keep_template",
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
