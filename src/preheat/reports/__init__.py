"""Measurements as a page that opens in any browser, without network or script."""

from preheat.reports.page import Context, page

__all__ = ["Context", "page"]
