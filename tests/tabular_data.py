"""Data and models that the tests of marginal games and of explanations share."""

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)


DATA = RNG.normal(size=(60, 5))


def interaction(rows):
    x = np.asarray(rows, dtype=float)
    return x[:, 0] * x[:, 1] + np.abs(x[:, 2] - x[:, 3]) * x[:, 4] + x[:, 3]


def slow_values(model, background, row, coalitions, weights=None):
    """Values v(S) of coalitions, computed one background row at a time."""
    values = []
    for coalition in coalitions:
        outputs = [model(np.where(coalition, row, b)[None])[0] for b in background]
        values.append(np.average(outputs, weights=weights, axis=0))
    return np.array(values)


def wide_model(rows):
    x = np.asarray(rows)
    return x[:, 0] * x[:, 1] + np.sin(x).sum(axis=1) * x[:, 2]


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


def never(rows):
    raise AssertionError("the model was called")
