# Everything runs in virtual environments: nothing needs to be installed first except Python, pip, make and git.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Workers in parallel are faster with one thread of linear algebra each.
ONE_THREAD = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check
INSTALL = $(BIN)/python $(PIP_INSTALL)

# A second environment, which has the wheel as a user installs it: no source tree and no development tools.
WHEEL_PYTHON ?= $(PYTHON)
WHEEL_VENV ?= .venv-wheel
MODELS_VENV ?= .venv-models
WHEEL_BIN = $(abspath $(WHEEL_VENV))/bin
IN_WHEEL = $(shell find src -type f -not -path '*/__pycache__/*') pyproject.toml README.md LICENSE
# Work in an empty folder, with an empty cache of designs, and leave nothing behind.
ELSEWHERE = folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cd "$$folder" && \
	export SHARPLEY_CACHE_DIR="$$folder/cache"

.PHONY: demo test test-models test-slow check docs bench bench-smoke dist readme smoke clean

demo: $(VENV)/.demo
	$(BIN)/sharpley demo

test: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 -m "not slow"

# The models of nine libraries, and networks for images, in an environment of their own: torch alone is a gigabyte.
test-models: $(MODELS_VENV)/.models
	$(ONE_THREAD) $(MODELS_VENV)/bin/python -m pytest -q tests/games/test_libraries.py tests/games/test_tree_libraries.py tests/test_explainer_exact.py tests/games/test_tiles.py \
		tests/batch/test_model_files.py tests/batch/test_backends.py tests/test_partitions.py \
		tests/games/test_image_networks.py tests/experiments/paper/test_images_exhibits.py

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

# What is uploaded: dist/ with the sdist, and the wheel that is built from it.
dist: $(VENV)/.release
	rm -f dist/sharpley-*
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/sharpley-*
	$(BIN)/python scripts/check_dist.py dist
	touch dist/.built

# The Python code in README.md and in the quick start, run with the installed wheel. -I: only installed packages are imported.
readme: $(WHEEL_VENV)/.wheel
	$(ELSEWHERE) && "$(WHEEL_BIN)/python" -I "$(CURDIR)/scripts/run_readme.py" "$(CURDIR)/README.md" \
		"$(CURDIR)/docs/index.md"

# The examples and the command line, with the installed wheel (CI: WHEEL_PYTHON=python3.13).
smoke: $(WHEEL_VENV)/.wheel
	set -e; $(ELSEWHERE); \
	for example in "$(CURDIR)"/examples/*.py; do "$(WHEEL_BIN)/python" -I "$$example"; done; \
	"$(WHEEL_BIN)/sharpley" demo --out demo; \
	"$(WHEEL_BIN)/sharpley" sample --method sobol -d 10 -n 64 --seed 0 | "$(WHEEL_BIN)/sharpley" discrepancy -

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Dependency groups need pip 25.1; the pip that comes with Python 3.11 to 3.13 may be older.
$(VENV)/.pip: | $(VENV)/bin/python
	$(INSTALL) 'pip>=25.1'
	touch $@

# __init__.py has the version, which an editable install records.
$(VENV)/.demo: pyproject.toml src/sharpley/__init__.py | $(VENV)/bin/python
	$(INSTALL) -e '.[plot]'
	touch $@

$(VENV)/.dev: pyproject.toml src/sharpley/__init__.py | $(VENV)/.pip
	$(INSTALL) -e '.[experiments]' --group dev
	touch $@ $(VENV)/.demo

$(VENV)/.release: pyproject.toml | $(VENV)/.pip
	$(INSTALL) --group release
	touch $@

dist/.built: $(IN_WHEEL)
	$(MAKE) dist

$(MODELS_VENV)/.models: pyproject.toml
	$(PYTHON) -m venv $(MODELS_VENV)
	$(MODELS_VENV)/bin/python $(PIP_INSTALL) 'pip>=25.1'
	$(MODELS_VENV)/bin/python $(PIP_INSTALL) -e '.[experiments]' --group dev --group models
	touch $@

# Emptied first: pip would not replace a wheel by another one of the same version.
$(WHEEL_VENV)/.wheel: dist/.built
	$(WHEEL_PYTHON) -m venv --clear $(WHEEL_VENV)
	"$(WHEEL_BIN)/python" $(PIP_INSTALL) "$$(echo dist/sharpley-*.whl)[plot]"
	touch $@

clean:
	rm -rf .venv .venv-models .venv-wheel dist docs/_build docs/_generated \
		.pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
