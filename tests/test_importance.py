"""Global importance: by loss, against enumeration; by mean size, against exact Shapley values."""

from itertools import combinations

import numpy as np
import oracles
import pytest

import sharpley
from sharpley.games import LossGame


def smooth(x):
    return 2 * x[:, 0] + x[:, 0] * x[:, 1] - x[:, 2] ** 2


def probability(x):
    return 1 / (1 + np.exp(-smooth(x)))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4))
    y = smooth(x) + rng.normal(size=80)
    return x, y, (rng.random(80) < probability(x)).astype(int)


def squared(y, p):
    return (y - p) ** 2


def cross_entropy(y, p):
    return -np.log(np.where(y == 1, p, 1 - p))


class Classifier:
    """A classifier with named classes."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, x):
        p = probability(np.asarray(x, dtype=float))
        return np.stack([1 - p, p], axis=1)


@pytest.mark.parametrize(
    ("loss", "slow", "is_class"),
    [("squared_error", squared, False), (squared, squared, False), ("log_loss", cross_entropy, True)],
)
def test_importance_by_loss_agrees_with_enumeration(data, loss, slow, is_class):
    x, y, classes = data
    model, target = (probability, classes) if is_class else (smooth, y)
    truth = oracles.importance_by_loss(model, x, target, x, slow)
    found = sharpley.importance(model, x, target, loss=loss, max_predictions=200_000, rng=0)
    assert np.abs(found.values - truth).max() < 0.03 * np.abs(truth).max()
    assert (np.abs(found.values - truth) <= 4 * found.sampling_errors + 1e-12).all()
    assert (found.sampling_errors < found.standard_errors)[:3].all()
    whole = slow(target, np.full(80, model(x).mean())).mean() - slow(target, model(x)).mean()
    assert found.values.sum() == pytest.approx(whole)


def test_corrected_squared_error_is_exactly_unbiased_over_all_subsets_of_the_background(data):
    x, y, _ = data
    background = x[:6]
    for loss in ("squared_error", squared):
        game = LossGame(smooth, background, x[:3], y[:3], loss=loss, visit_rows=3, rng=0)
        predictions = smooth(background)
        subsets = np.array(list(combinations(range(6), 3)))
        corrected = game.corrected_loss(predictions[subsets][:, :, None], np.zeros(len(subsets), dtype=int))
        assert corrected.mean() == pytest.approx((predictions.mean() - y[0]) ** 2)
        plain = (predictions[subsets].mean(axis=1) - y[0]) ** 2
        assert plain.mean() > corrected.mean() + 0.1


def test_corrected_cross_entropy_has_a_tenth_of_the_bias_of_the_plain_one():
    rng = np.random.default_rng(0)
    predictions = rng.beta(2, 2, size=400)
    x = np.stack([predictions, predictions], axis=1)
    game = LossGame(lambda rows: rows[:, 0], x, x, np.ones(400, dtype=int), loss="log_loss", rng=0)
    samples = rng.choice(predictions, size=(20_000, 8))
    corrected = game.corrected_loss(samples[:, :, None], np.zeros(20_000, dtype=int)).mean()
    exact = -np.log(predictions.mean())
    plain = -np.log(samples.mean(axis=1)).mean()
    assert abs(corrected - exact) < 0.15 * abs(plain - exact)


def test_visits_use_every_background_row_equally_often(data):
    x, y, _ = data
    game = LossGame(smooth, x, x, y, rng=0)
    assert (np.bincount(game.subset(np.arange(20)).reshape(-1)) == 2).all()


def test_a_classifier_is_judged_by_the_probabilities_of_its_named_classes(data):
    x, _, classes = data
    labels = Classifier.classes_[classes]
    truth = oracles.importance_by_loss(probability, x, classes, x, cross_entropy)
    found = sharpley.importance(Classifier(), x, labels, max_predictions=100_000, rng=0)
    assert found.measure == "removed log loss"
    assert np.abs(found.values - truth).max() < 0.05 * truth.max()
    with pytest.raises(ValueError, match=r"labels that are not classes of the model: \['maybe'\]"):
        sharpley.importance(Classifier(), x, np.where(classes, "maybe", "no"))


def test_losses_and_targets_that_do_not_fit_are_errors(data):
    x, y, classes = data
    with pytest.raises(ValueError, match="needs probabilities"):
        sharpley.importance(smooth, x, classes, loss="log_loss")
    with pytest.raises(ValueError, match="squared_error"):
        sharpley.importance(smooth, x, y, loss="hinge")
    with pytest.raises(ValueError, match="one number for each"):
        sharpley.importance(smooth, x, y, loss=lambda y, p: np.mean((y - p) ** 2))
    with pytest.raises(ValueError, match="one entry for each of the 80 rows"):
        sharpley.importance(smooth, x, y[:5])
    with pytest.raises(ValueError, match="no numbers"):
        sharpley.importance(smooth, x, np.full(80, "a"))
    with pytest.raises(ValueError, match="at least"):
        sharpley.importance(smooth, x, y, max_predictions=300)
    with pytest.raises(ValueError, match="need y"):
        sharpley.importance(smooth, x, loss="squared_error")
    with pytest.raises(ValueError, match="not a column"):
        sharpley.importance(smooth, x, y, by="sex")


def test_the_budget_is_kept_and_counted(data):
    x, y, _ = data
    for target, budget in ((y, 5000), (None, 3000)):
        rows = []

        def model(given, rows=rows):
            rows.append(len(given))
            return smooth(given)

        found = sharpley.importance(model, x, target, max_predictions=budget, rng=0)
        assert found.n_predictions == sum(rows) <= budget


def test_the_same_seed_gives_the_same_importance_in_any_number_of_workers(data):
    x, y, _ = data
    options = {"max_predictions": 20_000, "rng": 3}
    one = sharpley.importance(smooth, x, y, **options)
    np.testing.assert_array_equal(one.values, sharpley.importance(smooth, x, y, **options, n_jobs=2).values)
    np.testing.assert_array_equal(one.values, sharpley.importance(smooth, x, y, **options, batch_size=100).values)
    assert (one.values != sharpley.importance(smooth, x, y, max_predictions=20_000, rng=4).values).any()


def test_a_tolerance_is_met_or_reported(data):
    x, y, _ = data
    found = sharpley.importance(smooth, x, y, tol=0.02, rng=0)
    assert found.converged
    assert found.sampling_errors.max() <= 0.02 * np.ptp(found.values)
    with pytest.warns(RuntimeWarning, match="was not met"):
        missed = sharpley.importance(smooth, x, y, tol=1e-5, max_predictions=20_000, rng=0)
    assert not missed.converged


def test_groups_frames_and_single_features(data):
    pd = pytest.importorskip("pandas")
    x, y, _ = data
    frame = pd.DataFrame(x, columns=list("abcd")).assign(kind=np.where(x[:, 3] > 0, "u", "v"))

    def model(given):
        return smooth(given[["a", "b", "c"]].to_numpy()) + (given["kind"] == "u")

    found = sharpley.importance(model, frame, y, groups={"both": ["a", "b"]}, max_predictions=20_000, rng=0, by="kind")
    assert set(found.names) == {"both", "c", "d", "kind"}
    assert found.cohorts == ["u", "v"]
    assert found.values.shape == (2, 4)
    single = sharpley.importance(lambda z: z[:, 0], x[:, :1], x[:, 0], rng=0)
    assert single.values[0] == pytest.approx(x[:, 0].var())
    one_row = sharpley.importance(smooth, x[:1], background=x, rng=0)
    assert np.isfinite(one_row.values).all()
    assert np.isnan(one_row.standard_errors).all()


def test_cohorts_have_their_own_importance_and_differences_their_errors(data):
    x, y, _ = data
    labels = np.where(x[:, 3] > 0, "high", "low")
    found = sharpley.importance(smooth, x, y, background=x, by=labels, max_predictions=200_000, rng=0)
    for name in ("high", "low"):
        mine = labels == name
        truth = oracles.importance_by_loss(smooth, x[mine], y[mine], x, squared)
        assert np.abs(found[name].values - truth).max() < 0.06 * np.abs(truth).max()
    difference = found.difference("high", "low")
    np.testing.assert_allclose(difference.values, found["high"].values - found["low"].values)
    expected = np.hypot(found["high"].standard_errors, found["low"].standard_errors)
    np.testing.assert_allclose(difference.standard_errors, expected)
    with pytest.raises(KeyError, match="the cohorts are"):
        found["middle"]


def sizes(x):
    return x[:, 0] * x[:, 1] + np.maximum(x[:, 2], x[:, 3]) + 0.5 * x[:, 4] * x[:, 0] * x[:, 5]


@pytest.fixture(scope="module")
def exact_values():
    x = np.random.default_rng(1).normal(size=(150, 6))
    return x, sharpley.Explainer(sizes, x, method="exact", draws="shared").estimate(x, max_evals=64).values


def test_mean_sizes_have_at_most_two_percent_of_bias(exact_values):
    x, truth = exact_values
    wanted = np.abs(truth).mean(axis=0)
    found = [sharpley.importance(sizes, x, rng=seed) for seed in range(5)]
    total = np.mean([each.values.sum() for each in found])
    assert abs(total / wanted.sum() - 1) < 0.02
    raw = [np.abs(truth + 0.3 * np.random.default_rng(seed).normal(size=truth.shape)) for seed in range(5)]
    assert np.mean([each.mean(axis=0).sum() for each in raw]) / wanted.sum() > 1.05  # noise that is not corrected
    z = np.mean([(each.values - wanted) / each.sampling_errors for each in found], axis=0)
    assert np.abs(z).max() < 3


def test_means_of_values_are_unbiased(exact_values):
    x, truth = exact_values
    found = sharpley.importance(sizes, x, absolute=False, rng=0)
    assert found.measure == "mean φ"
    assert (np.abs(found.values - truth.mean(axis=0)) < 4 * found.sampling_errors).all()


def test_an_estimate_has_the_same_importance_as_its_explanation(exact_values):
    pytest.importorskip("shap")
    x, truth = exact_values
    raw, found = [], []
    for seed in range(6):
        explainer = sharpley.Explainer(sizes, x, draws="own", rng=seed)
        estimate = explainer.estimate(x[:60], max_predictions=300)
        raw.append(np.abs(estimate.values).mean(axis=0).sum())
        found.append(estimate.importance().values.sum())
    explanation = explainer(x[:60], max_predictions=300)
    np.testing.assert_allclose(estimate.importance().values, explanation.importance().values)
    wanted = np.abs(truth[:60]).mean(axis=0).sum()
    assert abs(np.mean(found) - wanted) < 0.75 * abs(np.mean(raw) - wanted)
    with pytest.raises(ValueError, match="a single one"):
        estimate.row(0).importance()


def test_errors_of_mean_sizes_are_not_the_mean_of_the_errors_of_rows(exact_values):
    pytest.importorskip("shap")
    x, _ = exact_values
    found = [sharpley.Explainer(sizes, x, draws="own", rng=seed)(x[:60], max_predictions=600) for seed in range(12)]
    means = [each.abs.mean(0) for each in found]
    spread = np.std([each.values for each in means], axis=0, ddof=1)
    claimed = np.mean([each.error_std for each in means], axis=0)
    before = np.mean([each.error_std.mean(axis=0) for each in found], axis=0)
    assert 0.6 < np.median(claimed / spread) < 2.5  # the errors of rows are too wide themselves here
    assert np.median(before / claimed) > 2


def test_results_can_be_read_and_drawn(data):
    pytest.importorskip("matplotlib")
    from sharpley import plotting

    x, y, _ = data
    found = sharpley.importance(smooth, x, y, max_predictions=20_000, rng=0, feature_names=list("abcd"))
    frame = found.to_frame()
    assert frame["importance"].is_monotonic_decreasing
    assert (frame["lower"] <= frame["importance"]).all()
    narrow = found.to_frame(of="rows")
    assert (narrow["upper"] - narrow["lower"] <= frame["upper"] - frame["lower"] + 1e-12).all()
    assert "removed squared error" in repr(found)
    assert repr(found).splitlines()[1].split()[0] == frame["feature"][0]
    assert plotting.importance(found).get_yticklabels()[-1].get_text() == frame["feature"][0]
    assert plotting.importance(found, max_display=2).get_xlabel().endswith("2 less important ones not shown)")
    with pytest.raises(ValueError, match="between 0 and 1"):
        found.interval(95)


def test_a_biased_loss_is_reported():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))

    def step(y, p):
        return (np.abs(p - 0.5) < 0.05).astype(float)

    with pytest.warns(RuntimeWarning, match="is biased by"):
        sharpley.importance(
            lambda rows: (rows[:, 0] > 0) * 1.0, x, x[:, 0] > 0, loss=step, max_predictions=20_000, rng=0
        )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", "population"])
def test_intervals_cover(kind):
    rng = np.random.default_rng(2)
    every = rng.normal(size=(20_000, 4))
    target = smooth(every) + rng.normal(size=20_000)
    background = every[:100]
    truth = sharpley.importance(smooth, every, target, background=background, max_predictions=1_000_000, rng=0).values
    covered = []
    for seed in range(60):
        rows = np.random.default_rng([seed, 1]).choice(20_000, size=150, replace=False)
        found = sharpley.importance(
            smooth, every[rows], target[rows], background=background, max_predictions=20_000, rng=seed
        )
        if kind == "rows":
            truth = oracles.importance_by_loss(smooth, every[rows], target[rows], background, squared)
        lower, upper = found.interval(of=kind)
        covered.append((lower <= truth)[:3] & (truth <= upper)[:3])
    assert 0.88 <= np.mean(covered) <= 0.995
