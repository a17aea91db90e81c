"""Measurements, sessions and weeks as pages that open in any browser, without network or script, and as Markdown."""

from preheat.reports.digest_document import render_digest_markdown, render_digest_page, render_digest_text
from preheat.reports.page import PageContext, render_page
from preheat.reports.session_document import render_markdown, render_session_page

__all__ = [
    "PageContext",
    "render_digest_markdown",
    "render_digest_page",
    "render_digest_text",
    "render_markdown",
    "render_page",
    "render_session_page",
]
