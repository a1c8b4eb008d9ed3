"""Tables and models that the tests of explaining share."""

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)


DATA = RNG.normal(size=(60, 5))


def interaction(table):
    table = np.asarray(table, dtype=float)
    return table[:, 0] * table[:, 1] + np.abs(table[:, 2] - table[:, 3]) * table[:, 4] + table[:, 3]


def slow_values(model, background, row, coalitions, weights=None):
    """v(S), one background row at a time."""
    values = []
    for coalition in coalitions:
        outputs = [model(np.where(coalition, row, b)[None])[0] for b in background]
        values.append(np.average(outputs, weights=weights, axis=0))
    return np.array(values)


def wide_model(table):
    table = np.asarray(table)
    return table[:, 0] * table[:, 1] + np.sin(table).sum(axis=1) * table[:, 2]


WIDE = RNG.normal(size=(40, 14))


FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 80),
        "job": RNG.choice(["clerk", "smith", "pilot"], 80),
        "size": pd.Categorical(RNG.choice(["S", "M", "L"], 80), categories=["S", "M", "L"], ordered=True),
        "member": RNG.random(80) < 0.4,
        "income": np.where(RNG.random(80) < 0.1, np.nan, RNG.normal(size=80)),
    }
)


def frame_model(frame):
    assert list(frame.columns) == list(FRAME.columns)
    assert [str(t) for t in frame.dtypes] == [str(t) for t in FRAME.dtypes]
    income = frame["income"].fillna(-1.0).to_numpy()
    pilot = (frame["job"] == "pilot").to_numpy()
    return frame["age"].to_numpy() * (pilot + 1) / 50 + income * frame["member"].to_numpy() + frame["size"].cat.codes


def never(table):
    raise AssertionError("the model was called")
