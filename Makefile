# Every target does its own set-up: a virtual environment in .venv, dependencies by pip, models into the cache folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS ?= 2
MUTANTS ?= 50
SEED ?= 1

.PHONY: demo test wheel check audit slow mutants bench pictures docs clean help

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
	@$(PIP) install --editable '.[asr,bucket,media,neural,pdf,pitch,quality,web]' --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.ready pyproject.toml
	@$(PIP) install --group docs
	@touch $@

demo: $(VENV)/.base   ## voices -> anonymize -> evaluate on 16 speakers, ends with a table and a report
	@$(BIN)/personare models fetch ecapa piper kokoro kokoro-languages moonshine moonshine-base whisper-base whisper-small segmentation cmudict ge2e swift-f0 wespeaker dnsmos
	@$(BIN)/personare demo personare-demo --jobs $(JOBS)

check: $(VENV)/.dev   ## lint, format, types, import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# files keep their order (the longest first, tests/conftest.py) instead of that of their numbers of tests
# JOBS workers fill the cores: with more threads each they only wait for one another (one test: 0.4 s, or 20 s)
test: check           ## everything that must pass: lint, types, import rules, all tests but the slow ones
	@$(BIN)/personare models fetch
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

wheel: $(VENV)/.dev   ## the built wheel in an empty environment without extras: the first commands run from there (part of test)
	@$(BIN)/python -m pytest -n 0 tests/packaging

# pip-audit has an environment of its own, so that it is not among what it checks
audit: $(VENV)/.dev   ## known vulnerabilities of every installed package (pip-audit), where an advisory source is reachable
	@test -x $(VENV)-audit/bin/pip-audit || { $(PYTHON) -m venv $(VENV)-audit && $(VENV)-audit/bin/python -m pip --disable-pip-version-check --quiet install 'pip-audit>=2.9,<3'; }
	@$(BIN)/python .ci/audit.py $(VENV)-audit/bin/pip-audit "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

$(VENV)/.ray: $(VENV)/.dev
	@$(PIP) install --editable '.[ray]'
	@touch $@

slow: $(VENV)/.ray    ## the long tests: real speech, crashes, power cuts, a Ray cluster, damaged files; prints their counts
	@$(BIN)/personare models fetch
	@$(BIN)/python -m pytest -m slow

mutants: $(VENV)/.dev  ## how many small faults in the code the tests notice: MUTANTS per package, drawn by SEED
	@PYTHONPATH=tests nice $(BIN)/python -m mutants.run --sample $(MUTANTS) --seed $(SEED)

bench: $(VENV)/.dev   ## speed of each hot path as a ratio against a plain reference in the same run
	@$(BIN)/personare models fetch
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

pictures: $(VENV)/.dev  ## every page of the panels, the app and a report as a picture, in pictures/; those of the documentation
	@PYTHONPATH=tests $(BIN)/python docs/pictures.py pictures

# strict: a page outside the navigation, a dead link or a name without a docstring stops the build
docs: $(VENV)/.docs   ## the documentation as a web site in site/: navigation, search, nothing fetched from elsewhere
	@$(BIN)/python -m doctest docs/docstrings.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@if grep -rlE '<(script|img|iframe|link)[^>]* (src|href)="?(https?:)?//' site --include='*.html'; then echo "these pages fetch something from elsewhere"; exit 1; fi
	@echo "docs: site/index.html"

clean:                ## remove the environment and what the demo made (the cache folder stays)
	rm -rf $(VENV) $(VENV)-audit personare-demo pictures site
