"""``python -m sharpley``."""

from sharpley.cli import app

app(prog_name="sharpley")
