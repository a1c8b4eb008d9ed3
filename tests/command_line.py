"""Calling the command line in the tests' own process."""

from typer.testing import CliRunner

from sharpley.app.cli import app


def call(*arguments, stdin=None, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    assert code is None or result.exit_code == code, result.output
    return result
