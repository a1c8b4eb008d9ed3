# Everything runs in a virtual environment of its own: nothing needs to be installed first but Python, pip, make and git.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Workers beside each other are faster with one thread of linear algebra each.
ONE_THREAD = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-slow check docs bench bench-smoke smoke clean

demo: $(VENV)/.demo
	$(BIN)/sharpley demo

test: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 -m "not slow"

test-slow: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 -m slow

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) docs

docs: $(VENV)/.dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python -m pytest benchmarks --benchmark-columns=min,median,rounds --benchmark-sort=name

bench-smoke: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python -m pytest -q benchmarks --benchmark-disable

# The installed package without its development tools, as a user gets it (CI: PYTHON=python3.13 VENV=.venv-smoke).
smoke: $(VENV)/.demo
	$(BIN)/python examples/first_steps.py
	cd $(VENV) && bin/python ../examples/explain_model.py
	$(BIN)/sharpley demo --out $(VENV)/demo
	$(BIN)/sharpley sample --method sobol -d 10 -n 64 --seed 0 | $(BIN)/sharpley discrepancy -

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -e '.[plot]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -e '.[dev]'
	touch $@ $(VENV)/.demo

clean:
	rm -rf .venv .venv-smoke docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
