"""Small files to explain: a folder with data, background, and a module with a model."""

import sys

import numpy as np
import pandas as pd
import pytest

from sharpley.batch import Options, explain_files

FEATURES = ["age", "income", "size", "rooms", "year", "floor", "lift"]
ROWS = 40
MODEL = """
import numpy as np

def predict(rows):
    age, income, size, rooms, year = (rows[name].to_numpy() for name in ("age", "income", "size", "rooms", "year"))
    return age * income + np.where(size > rooms, year, -year) + np.abs(size) + rows["floor"].to_numpy() * size

def two(rows):
    return np.stack([predict(rows), rows["age"].to_numpy()], axis=1)

def broken(rows):
    raise RuntimeError("no such\\nthing")

def ends(rows):
    raise SystemExit(3)
"""


def table(n, seed):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, len(FEATURES))).round(2), columns=FEATURES)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Be in a folder with data, background and models."""
    monkeypatch.chdir(tmp_path)
    data = table(ROWS, 0)
    data["key"] = [f"r{number}" for number in range(ROWS)]
    data.to_parquet("X.parquet", row_group_size=9)
    table(300, 1).to_parquet("B.parquet")
    (tmp_path / "batch_models.py").write_text(MODEL)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    yield tmp_path
    sys.modules.pop("batch_models", None)


@pytest.fixture
def explain(files):
    """Explain the files, with other arguments if any are given."""

    def run(out="phi", *, model="batch_models:predict", data="X.parquet", background="B.parquet", **arguments):
        options = arguments.pop("options", Options(max_predictions=60))
        return explain_files(model, data, background, out, options=options, progress=False, **arguments)

    return run
