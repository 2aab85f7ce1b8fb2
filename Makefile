# Every command of the project. Each needs Python 3.11 or newer and pip, and nothing else: the
# first one installs into .venv, the others find it there. `make help` lists them.
#
#   make conform ARGS="-b reference --seed 7"     ARGS goes to the command behind the target

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.installed
LINKS := build/links/deltaproof

.DEFAULT_GOAL := help
.PHONY: help conform flights tpch tpchbench mutants theorems planted test soak bench check docs

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

conform: $(READY) ## hold Spark and the others to the reference: random cases and a month of flights
	@$(BIN)/deltaproof conform $(ARGS)

flights: $(READY) ## the same with all 365 days of flights
	@$(BIN)/deltaproof conform --days 365 $(ARGS)

tpch: $(READY) ## keep the 22 queries of TPC-H up to date, every tick compared with DuckDB
	@$(BIN)/deltaproof tpch $(ARGS)

tpchbench: $(READY) ## the same at scale 1 on Spark, half an hour
	@$(BIN)/python -m deltaproof.conformance.tpch.bench_tpch $(ARGS)

mutants: $(READY) ## plant known bugs and see each one found
	@$(BIN)/deltaproof mutants $(ARGS)

theorems: $(READY) ## prove the theorems, one line each
	@$(BIN)/deltaproof prove $(ARGS)

planted: $(READY) ## change signs in theorems and increments at random: each change must be caught
	@$(BIN)/python -m deltaproof.theorems.execution.planted $(ARGS)

test: $(READY) ## run the tests
	@$(BIN)/pytest $(ARGS)

soak: $(READY) ## what takes longer: a process killed at 200 moments, TPC-H on Spark
	@DELTAPROOF_KILLS=200 $(BIN)/pytest reference/test_durable.py
	@DELTAPROOF_LONG=1 $(BIN)/pytest conformance/tpch

bench: $(READY) ## measure the reference's runtime against code written by hand
	@$(BIN)/pytest -o python_files='bench_*.py' -o python_functions='bench_*' \
	    --benchmark-enable --benchmark-columns=min,median,max,rounds $(ARGS)

check: $(READY) ## format, lint, types, import layers, generated docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@mkdir -p $(LINKS)
	@for folder in reference properties theorems spark_backend conformance; do \
	    ln -sfn "../../../$$folder" "$(LINKS)/$$folder"; done
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m deltaproof.conformance.docs --check

docs: $(READY) ## write the README's table and theorems/THEOREMS.md, which are made from the code
	@$(BIN)/python -m deltaproof.conformance.docs
	@$(BIN)/python -m deltaproof.theorems.page

# PYTHON names another interpreter: make test PYTHON=/opt/python/bin/python3.13
PYTHON ?= python3 python3.13 python3.12 python3.11

# Where venv cannot install pip (Debian keeps ensurepip in a package of its own), the pip that is
# here installs into the new environment from outside.
$(READY): pyproject.toml constraints.txt
	@python= ; \
	for candidate in $(PYTHON); do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "deltaproof needs Python 3.11 or newer, and none of these is: $(PYTHON)." \
	        "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; fi; \
	echo "installing into $(VENV): 1.4 GB with Spark, a few minutes the first time ..."; \
	if "$$python" -c 'import ensurepip' 2>/dev/null; then \
	    [ -x $(BIN)/pip ] || "$$python" -m venv $(VENV) || exit 1; \
	    pip="$(BIN)/python -m pip"; \
	elif "$$python" -m pip --version >/dev/null 2>&1; then \
	    [ -x $(BIN)/python ] || "$$python" -m venv --without-pip $(VENV) || exit 1; \
	    pip="$$python -m pip --python $(BIN)/python"; \
	else \
	    echo "$$python has neither pip nor ensurepip: install pip for it" \
	        "(on Debian and Ubuntu: apt install python3-pip)" >&2; exit 1; \
	fi; \
	$$pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	@touch $@
