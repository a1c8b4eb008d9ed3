"""Calls of ``sharpley explain`` on the small files of ``small_files``."""

from command_line import call

ARGUMENTS = ("explain", "--data", "X.parquet", "--background", "B.parquet", "--out", "phi", "--max-predictions", 60)


def refused(*arguments, model="batch_models:predict"):
    """Call the command line, which must end with code 2 and one line, which is returned."""
    result = call(*ARGUMENTS, "--model", model, *arguments, code=2)
    assert result.stderr.startswith("sharpley: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.output
    return result.stderr
