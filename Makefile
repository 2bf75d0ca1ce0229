# `make play` and `make test` do everything on a fresh machine with Python 3.11, git, make and gcc.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
ALL := $(VENV)/.installed
# Whoever has all has what planning needs.
PLANNING := $(if $(wildcard $(ALL)),$(ALL),$(VENV)/.planning)
WATCHING := $(if $(wildcard $(ALL)),$(ALL),$(VENV)/.watching)

.PHONY: help install planning system play watch test lint types layers page check torture bench clean
.NOTPARALLEL:

help:
	@echo "make play    install what planning needs, and play Breakout with RIW_C: score, episode file and video"
	@echo "make watch   install what the viewer needs, and show Breakout being played by RIW_C, with its lookaheads, in the browser"
	@echo "make test    install all, and run all tests"
	@echo "make system  a browser, LaTeX and node from Debian, for tests and the viewer's page (as root)"
	@echo "make page    check the source of the viewer's page, and that the page in the package is built from it"
	@echo "make check   lint, types, layers and tests: all that CI runs"
	@echo "make torture crash trials, refuse what they write and cut the power, at every operation on files; fuzz all records"
	@echo "make bench   measure the cost of planning and learning relative to the raw emulator"
	@echo "make clean   remove the virtual environment and caches"

install: $(ALL)

planning: $(PLANNING)

# The environment is made anew each time, since the last time may have been interrupted; what is in it stays.
define INSTALL
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "noveltree needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
$(PYTHON) -m venv $(VENV)
$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
endef

$(VENV)/.planning: pyproject.toml constraints.txt
	$(INSTALL) .
	@touch $@

$(VENV)/.watching: pyproject.toml constraints.txt
	$(INSTALL) '.[watch]'
	@touch $@

$(ALL): pyproject.toml constraints.txt
	$(INSTALL) '.[dev,learn,minatar,minigrid,parquet,plot,ray,retro,sign,tensorboard,watch]'
	@touch $@

system:
	scripts/install_system

play: planning
	$(BIN)/noveltree play breakout --agent riw-c --video play/breakout.mp4 --out play

watch: $(WATCHING)
	$(BIN)/noveltree watch breakout

test: install
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

layers: install
	$(BIN)/lint-imports

page:
	@if command -v npm > /dev/null; then scripts/check_page; else \
	  echo "The viewer's page was not checked: node is not installed; make system installs it."; test "$$CI" != true; fi

check: lint types layers page test

torture: install
	$(BIN)/python -m tests.support.torture
	$(BIN)/python -m tests.support.fuzz

bench: install
	$(BIN)/noveltree bench planning
	$(BIN)/noveltree bench learning

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
