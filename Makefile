# make lab     opens JupyterLab on the tour        make test       the default tests
# make tour    runs the tour without a screen      make test-slow  the rest; make test-quick: a minute of the default ones
# make lint    ruff and pyright                    make bench      tables against Warp, numba and jax.jit
# make docs    the site, in build/site              VENV=... PYTHON=... JOBS=... may be set; CUDA=cu13 for CUDA 13
# make clean   removes what was built
#
# Each environment is made once and reused until pyproject.toml changes.

VENV ?= .venv
BENCH_VENV ?= .bench-venv
JOBS ?= 2
CUDA ?= cu12
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$p" -c '$(NEW_ENOUGH)' 2>/dev/null && { echo $$p; break; }; done)
PY := $(VENV)/bin/python
LAB_FLAGS := $(if $(filter 0,$(shell id -u)),--allow-root)
# Each worker takes half of the list, so that what the tests of a file share is made once, and who is done steals.
PYTEST := $(PY) -m pytest -n $(JOBS) --dist worksteal

# The tests start hundreds of processes: without bytecode on disk each would compile all of the product again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help lab tour test test-quick test-slow test-rare test-emulated lint docs bench clean

help:
	@sed -n 's/^# \{0,1\}//; 1,5p' Makefile

lab: $(VENV)/.has-lab
	$(PY) -m jupyterlab $(LAB_FLAGS) notebooks/00-tour.ipynb

tour: $(VENV)/.has-lab
	@$(PY) notebooks/run_notebook.py

test: $(VENV)/.has-test
	$(PYTEST) -m "not slow"

# Types, IR, passes, the front end and what kernels mean on the CPU: no CUDA text (g++, NVRTC), no random edits, no browser.
test-quick: $(VENV)/.has-test
	$(PYTEST) -m "not slow" -k "not cuda and not nvrtc and not native_text and not token_edits" \
		tests/unit_types tests/ir tests/passes tests/backends/python tests/frontend

test-slow: $(VENV)/.has-test
	$(PYTEST) -m "slow and not rare"

# More cases of what the slow tests run a share of: half an hour that CI does not have.
test-rare: $(VENV)/.has-test
	$(PYTEST) -m rare

# The suite of the GPU, on the device that the CPU emulates.
test-emulated: $(VENV)/.has-test
	WORKBENCH_GPU=emulated $(PYTEST) tests/gpu

# The same below the real cuda-bindings, on a stand-in for the driver that the emulated device serves. The
# catalogue is about code, which is the same here: it takes most of the time, and nothing of the driver's.
test-standin: $(VENV)/.has-test
	WORKBENCH_GPU=standin $(PYTEST) tests/gpu --ignore tests/gpu/test_gpu_catalogue.py

lint: $(VENV)/.has-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/pyright --pythonpath $(PY)

docs: $(VENV)/.has-test
	@$(PY) docs/build.py

bench: $(BENCH_VENV)/.has-bench
	$(BENCH_VENV)/bin/python benchmarks/run.py

$(VENV)/.has-lab: pyproject.toml | $(PY)
	@echo "Installing into $(VENV); the first time takes a minute or two, and 2 GB."
	@$(PY) install.py --editable '.[lessons,jax,$(CUDA)]'
	@touch $@

$(VENV)/.has-test: pyproject.toml | $(PY)
	@echo "Installing into $(VENV); the first time takes a minute or two, and 2 GB."
	@$(PY) install.py --editable '.[test,mathdx-$(CUDA)]'
	@touch $@ $(VENV)/.has-lab

$(BENCH_VENV)/.has-bench: pyproject.toml | $(BENCH_VENV)/bin/python
	@$(BENCH_VENV)/bin/python install.py --editable '.[bench,mathdx-$(CUDA)]'
	@touch $@

$(VENV)/bin/python $(BENCH_VENV)/bin/python:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(NEW_ENOUGH)' || { \
	echo "Workbench needs Python 3.11 or newer, and found none. Install one, or name it: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(@D:/bin=)

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	find workbench kernel_ext tests notebooks benchmarks -name __pycache__ -prune -exec rm -rf {} +
