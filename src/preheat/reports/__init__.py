"""Measurements and sessions as pages that open in any browser, without network or script, and as Markdown."""

from preheat.reports.page import PageContext, render_page
from preheat.reports.session_document import render_markdown, render_session_page

__all__ = ["PageContext", "render_markdown", "render_page", "render_session_page"]
