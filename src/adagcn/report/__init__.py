"""Figures of results; the only room that imports matplotlib, and only when it draws.

Each file's figure functions return a matplotlib figure, which ``drawing.save_figure`` writes. They
raise a ``ResourceError`` if matplotlib is not installed.
"""
