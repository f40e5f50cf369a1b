SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps

.DEFAULT_GOAL := help
.PHONY: help run test check bench crash clean wheel

help: ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

$(STAMPS)/venv: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --constraint constraints.txt --editable . --group dev
	@mkdir -p $(STAMPS) && touch $@

run: $(STAMPS)/venv ## install, index the shipped guidance, open the web chat on http://127.0.0.1:7860
	$(BIN)/advisor serve

test: $(STAMPS)/venv ## run the tests
	$(BIN)/python -m pytest -n auto -m "not long"

check: $(STAMPS)/venv ## lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean: ## remove what was built
	rm -rf $(VENV) $(STAMPS) build dist .pytest_cache .mypy_cache .ruff_cache
