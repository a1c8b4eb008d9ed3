"""Errors of the command line: what the user can fix is one line, anything else is a defect and keeps its traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

INTERRUPTED = 130  # what shells report for programs that Ctrl-C has ended


@contextmanager
def plain_errors() -> Iterator[None]:
    """Print errors that the user can fix as one line, and end with code 2; an interrupt has its line and code, too."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("sharpley: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (ValueError, TypeError, OSError, ImportError) as error:
        typer.echo(f"sharpley: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from error
