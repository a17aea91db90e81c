"""Measurements as a page that opens in any browser, without network or script."""

from preheat.reports.page import PageContext, render_page

__all__ = ["PageContext", "render_page"]
