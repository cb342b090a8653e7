# Every target does its own set-up: a virtual environment in .venv, dependencies by pip, models into the cache folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS ?= 2
MUTANTS ?= 50
SEED ?= 1

.PHONY: demo test check slow mutants bench docs clean help

help:            ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(VENV)/.ready:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "personare needs Python 3.11 or later; set PYTHON=...")'
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.base: $(VENV)/.ready pyproject.toml
	@echo "installing personare"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "installing what the tests need"
	@$(PIP) install --editable '.[asr,neural,pitch,quality]' --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.base
	@$(PIP) install --group docs
	@touch $@

demo: $(VENV)/.base   ## voices -> anonymize -> evaluate on about 20 speakers, ends with a table and a report
	@$(BIN)/personare models fetch ecapa kokoro
	@$(BIN)/personare demo personare-demo --jobs $(JOBS)

check: $(VENV)/.dev   ## lint, format, types, import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# JOBS workers fill the cores: with more threads each they only wait for one another (one test: 0.4 s, or 20 s)
test: check           ## everything that must pass: lint, types, import rules, all tests but the slow ones
	@$(BIN)/personare models fetch
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile

slow: $(VENV)/.dev    ## the long tests on real speech
	@$(BIN)/personare models fetch
	@$(BIN)/python -m pytest -m slow

mutants: $(VENV)/.dev  ## how many small faults in the code the tests notice: MUTANTS per package, drawn by SEED
	@PYTHONPATH=tests nice $(BIN)/python -m mutants.run --sample $(MUTANTS) --seed $(SEED)

bench: $(VENV)/.dev   ## speed of each hot path as a ratio against a plain reference in the same run
	@$(BIN)/personare models fetch
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/.docs   ## the documentation as a web site in site/
	@$(BIN)/mkdocs build --strict --quiet && echo "docs: site/index.html"

clean:                ## remove the environment and what the demo made (the cache folder stays)
	rm -rf $(VENV) personare-demo site
