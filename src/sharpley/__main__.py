"""``python -m sharpley``."""

from sharpley.app.cli import app

app(prog_name="sharpley")
