"""The one table of methods, and that everything agrees with it."""

import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from driving import drive, one_game

import sharpley
from sharpley import METHODS, SAMPLERS
from sharpley.engine.methods import AUTO, MethodName, as_method, as_sampler
from sharpley.games import UnanimitySum

ESTIMATING = [name for name, record in METHODS.items() if record.factory is not None]


def test_type_checkers_know_every_name():
    assert get_args(MethodName) == tuple(METHODS)


def test_the_readme_lists_every_method():
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", text, re.MULTILINE)
    assert shown == [(name, record.summary) for name, record in METHODS.items()]


def test_samplers_are_those_of_the_table():
    assert {name: record.sampler for name, record in METHODS.items() if record.sampler} == dict(SAMPLERS)
    assert list(SAMPLERS) == ["monte-carlo", "antithetic", "orthogonal", "sobol", "herding", "sbq", "design"]


@pytest.mark.parametrize("name", METHODS)
def test_names_in_records_exist_and_colours_are_valid(name):
    from matplotlib.colors import is_color_like

    record = METHODS[name]
    assert {record.unbiased_form, record.faster} - {None} <= set(METHODS)
    assert record.summary
    assert is_color_like(record.colour)
    if record.unbiased_form:
        assert METHODS[record.unbiased_form].is_unbiased


def test_colours_tell_methods_apart():
    colours = [record.colour for name, record in METHODS.items() if name != AUTO]  # which is drawn as what it chooses
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize("name", ESTIMATING)
def test_values_add_up_where_the_table_says(name):
    game = UnanimitySum.random(7, n_terms=30, max_order=5, rng=1)
    budget = 128 if name == "exact" else max(60, METHODS[name].least_budget(7))
    total = drive(METHODS[name].start(7, 0), one_game(game), budget).values.sum()
    nobody, everybody = game(np.array([[False] * 7, [True] * 7]))
    assert np.isclose(total, everybody - nobody, atol=1e-9) == METHODS[name].adds_up


def chosen_coalitions(name, game):
    """What a run with several looks at its tolerance asks for."""
    seen = []

    def recorded(coalitions):
        seen.append(coalitions.copy())
        return game(coalitions)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the tolerance is out of reach
        budget = 4096 if name == "exact" else 1000
        sharpley.shapley_values(recorded, 12, method=name, max_evals=budget, tol=1e-12, rng=3)
    return np.concatenate(seen)


@pytest.mark.parametrize("name", ESTIMATING)
def test_choices_depend_on_values_only_where_that_is_declared(name):
    first, second = (chosen_coalitions(name, UnanimitySum.random(12, n_terms=40, max_order=6, rng=s)) for s in (1, 2))
    assert (not np.array_equal(first, second)) == (as_method(name).start(12, 0).choices_depend_on is not None)


def test_auto_makes_no_estimator_itself():
    with pytest.raises(ValueError, match="method 'auto' makes no estimator"):
        as_method("auto").start(5, 0)


def test_only_samplers_make_samplers():
    assert as_sampler(partial(sharpley.KernelHerding, n_candidates=3)).start_sampler(4, 0).n_candidates == 3
    with pytest.raises(ValueError, match="unknown method 'gp'; choose one of 'monte-carlo'"):
        as_sampler("gp").start_sampler(4)
    with pytest.raises(TypeError, match="must make a Sampler, but OwenEstimator made"):
        as_sampler(sharpley.estimators.OwenEstimator).start_sampler(4)
    with pytest.raises(TypeError, match="method must be a name, or a class of samplers or estimators"):
        as_sampler(3).start_sampler(4)


def test_a_type_checker_catches_misspelt_methods(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "user.py"
    script.write_text(
        "import sharpley\n"
        "good = sharpley.shapley_values(len, 3, method='gp')\n"
        "reveal_type(good)\n"
        "sharpley.shapley_values(len, 3, method=sharpley.Orthogonal)\n"
        "sharpley.shapley_values(len, 3, method='gpp')\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(script)]
    out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    errors = [line for line in out.splitlines() if "error:" in line and "user.py" in line]
    assert re.search(r'Revealed type is "sharpley\.result[\w.]*\.ShapleyEstimate"', out)
    assert len(errors) == 1
    assert "user.py:5" in errors[0]
    assert "Literal['gpp']" in errors[0]
