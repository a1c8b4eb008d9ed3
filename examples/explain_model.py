"""Explain a scikit-learn pipeline on a data frame with a categorical column: values, error bars and shap's plots."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sharpley

mpl.use("Agg")

# Rents of flats: floor and lift interact, as do area and district, and the district is a string.
rng = np.random.default_rng(0)
flats = pd.DataFrame(
    {
        "area": rng.uniform(20, 120, 600).round(),
        "floor": rng.integers(0, 8, 600),
        "district": rng.choice(["harbour", "hill", "market", "park"], 600),
        "lift": rng.random(600) < 0.5,
    }
)
rent = flats["area"] * (8 + 3 * (flats["district"] == "park")) - 20 * flats["floor"] * ~flats["lift"]
encode = make_column_transformer((OneHotEncoder(), ["district"]), remainder="passthrough")
model = make_pipeline(encode, RandomForestRegressor(100, random_state=0)).fit(flats, rent)

# The model receives frames like the one it was fitted to and encodes them itself, so that "district" is one player.
background = sharpley.Background.sample(flats, 50, rng=0)
explainer = sharpley.Explainer(model, background, rng=0)
estimate = explainer.estimate(flats[:3])
print(explainer)
print(estimate)
print(estimate.to_frame()[["row", "feature", "value", "lower", "upper"]])
print(f"base {estimate.base_values[0]:.1f}, prediction {model.predict(flats[:1])[0]:.1f}")

# A forest is a sum of trees, and its encoder acts on single columns: the values are exact over all background rows.
# Calling the explainer returns a shap.Explanation, which shap can plot.
import shap  # noqa: E402

explanation = explainer(flats[:40])
ax = shap.plots.beeswarm(explanation, show=False)
ax.get_figure().savefig("rents.png", bbox_inches="tight")
print("wrote rents.png")
