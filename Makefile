# Two commands set everything up on a machine that has Python 3.11 or newer and make:
#   make demo   trains on the packaged Cora graph and draws a figure
#   make test   runs the checks of every change, in at most six minutes
#   make test-full   runs every test there is, in at most twenty minutes
# One more builds the documentation as a site: make docs
#
# Variables (make demo PYTHON=python3.12 TORCH_INDEX=...):
#   PYTHON       the interpreter that makes the virtual environment
#   VENV         where the virtual environment lives
#   TORCH_INDEX  the package index of PyTorch's CPU builds, as PyTorch's install page names it; a
#                plain install on Linux pulls CUDA, several gigabytes that nothing here needs. It
#                is asked beside the usual index, and its "2.13.0+cpu" wins over "2.13.0".
#   PIP_FLAGS    more options for pip
#   PYTEST_FLAGS more options for pytest, such as "-x tests/boosting"

PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?=
PIP_FLAGS ?=
PYTEST_FLAGS ?=

SHELL := /bin/sh
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	--constraint constraints.txt $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) $(PIP_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help demo test test-full docs format clean

help:
	@echo 'make demo     set up $(VENV), train on the packaged Cora graph, draw a figure'
	@echo 'make test     set up $(VENV), check format, lint, types, layers; run the tests'
	@echo 'make test-full  run every test, the contract suite on every model among them'
	@echo 'make docs     build the documentation in docs/_build/html'
	@echo 'make format   rewrite the code in the one format and fix what the linter can'
	@echo 'make clean    remove $(VENV), caches and what the demo wrote'
	@echo
	@echo 'On Linux, TORCH_INDEX=(the index of CPU builds) keeps the download of PyTorch small.'

demo: $(VENV)/.installed-report
	@$(BIN)/adagcn demo
	@echo 'The adagcn command is in $(BIN); put it on your path with: . $(BIN)/activate'

# One thread per process: the machine's cores go to the tests, and results do not depend on them.
test test-full: export OMP_NUM_THREADS = 1
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 $(PYTEST_FLAGS)

STARTED = $(VENV)/.test-started
TOOK = @echo "$@: $$(( $$(date +%s) - $$(cat $(STARTED)) )) s"

test: $(VENV)/.installed-dev
	@date +%s > $(STARTED)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -m 'not full'
	$(TOOK)

test-full: $(VENV)/.installed-dev
	@date +%s > $(STARTED)
	$(PYTEST)
	$(TOOK)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky docs docs/_build/html
	@echo 'Open docs/_build/html/index.html'

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache adagcn-demo.png adagcn-demo.adagcn
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are older than pyproject.toml or constraints.txt exactly when pip has work to do.
$(VENV)/.installed-report: $(BIN)/python pyproject.toml constraints.txt
	@echo 'Installing adagcn and what it needs into $(VENV) (minutes the first time) ...'
	@$(INSTALL) --editable '.[report]'
	@touch $@

$(VENV)/.installed-docs: $(BIN)/python pyproject.toml constraints.txt
	@echo 'Installing adagcn and what builds its documentation into $(VENV) ...'
	@$(INSTALL) --editable '.[docs]'
	@touch $(VENV)/.installed-report $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml constraints.txt
	@echo 'Installing adagcn and its development tools into $(VENV) (minutes the first time) ...'
	@$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/.installed-report $(VENV)/.installed-docs $@

# No prerequisites: an environment that exists is kept, whatever its age.
$(BIN)/python:
	@command -v $(PYTHON) > /dev/null || { \
		echo 'make: $(PYTHON) is not installed: install Python 3.11 or newer,' \
			'or name one: make PYTHON=/path/to/python' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "make: adagcn needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1):" \
			'name a newer one: make PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || { \
		echo 'make: $(PYTHON) comes without venv:' \
			'install it (Debian and Ubuntu: apt install python3-venv)' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
