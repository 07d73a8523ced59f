"""Figures of results; the only room that imports matplotlib, and only when it draws."""
