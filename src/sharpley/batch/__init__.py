"""Files in, files out: rows of any number explained in parts, by one process or many, and resumed where it was left."""

from sharpley.batch.outcome import Outcome
from sharpley.batch.planning import forecast_files
from sharpley.batch.recipe import Options
from sharpley.batch.run import explain_files

__all__ = ["Options", "Outcome", "explain_files", "forecast_files"]
