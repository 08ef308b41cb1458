# Verbs for people; `make help` lists them. Everything that they need is made in .venv, nothing outside this folder.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run test test-long coverage mutants collected lint format texts native docs bench lab lab-down gallery clean

BIN := .venv/bin
# Most tests wait longer than they work: for networks, launchers, a time limit.
WORKERS ?= $(shell echo $$((3 * $$(nproc))))
# A test that fails beside the others may have met a busy machine, not a fault: what fails by itself, too, has failed.
# The end of the last attempt names those that passed only so; its very last line is pytest's own.
ALONE = $(BIN)/pytest -n 0 --last-failed --maxfail 5 --attempt 2 $(PYTEST)
LOCKED := pyproject.toml uv.lock tools/bootstrap tools/bootstrap.py

# Where ccache is installed, what was compiled once with the same flags is not compiled again: neither by CMake's
# presets nor by the builds of Assay, whose folders lie equally deep. It takes paths of this folder as relative ones.
export CMAKE_CXX_COMPILER_LAUNCHER = $(shell command -v ccache)
export CCACHE_BASEDIR = $(CURDIR)
# Images for containers forbid it. Each of the programs that tests start would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

run: .venv/.run ## measure this machine in about 90 seconds; the last line is the path of the report
	@$(BIN)/assay run quick

test test-long: export ASSAY_CACHE ?= $(CURDIR)/build/cache
test test-long: export NATIVE_WERROR := ON
test: ## run every check and every test
	@$(MAKE) --no-print-directory --jobs=4 --output-sync=target lint native docs collected
	@$(BIN)/pytest -n $(WORKERS) --attempt 1 $(PYTEST) || { [ $$? = 1 ] && $(ALONE); }

# What pytest makes of the sources of tests is kept: each of its processes would do it, all at the same time. What
# cannot be collected is told by the tests.
collected: .venv/.python
	@$(BIN)/pytest --collect-only -qq > /dev/null || true

test-long: PYTEST := --long
test-long: native-asan-ubsan native-clang test ## also run tests that take minutes, and repeat those of chance and of laws far more often

coverage: export ASSAY_CACHE ?= $(CURDIR)/build/cache
coverage: .venv/.test ## run every test of Python, also of its processes, and print the share of each room that ran
	@rm -rf build/coverage; mkdir -p build/coverage
	@$(BIN)/pytest -n $(WORKERS) --cov --cov-report= $(PYTEST) || [ $$? = 1 ]
	@$(BIN)/python tools/coverage_by_room.py build/coverage/data

# Faults drawn by chance: `make mutants SAMPLE=500 SEED=2`. See docs/releasing.md.
SAMPLE ?= 300
SEED ?= 1
NEAR_TESTS := tests/unit tests/integration/test_run_process.py
mutants: build/mutants/coverage ## put small faults into analyse, run and topics, and name those that no test near them finds
	@$(BIN)/python -m tools.mutants --sample $(SAMPLE) --seed $(SEED) $(MUTANTS)

# Which test runs which line.
build/mutants/coverage: $(shell find src/assay/analyse src/assay/run src/assay/topics tests/unit -name '*.py') | .venv/.test
	@rm -rf build/mutants; mkdir -p build/mutants
	@$(BIN)/pytest -q -n $(WORKERS) $(NEAR_TESTS) --cov --cov-config=tools/mutants/coverage.ini --cov-context=test \
		--cov-report= --junitxml=build/mutants/times.xml || [ $$? = 1 ]

lint: .venv/.python ## check style, types, layers and spelling
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell $$(git ls-files)
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.hpp')

format: .venv/.test ## correct the style, and update the generated files
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $$(git ls-files '*.cpp' '*.hpp')
	$(BIN)/python tools/cli_reference.py > docs/cli.md
	$(BIN)/python tools/schemas.py
	$(BIN)/python tools/json_reference.py > docs/show-json.md

texts: .venv/.test ## bring the catalogues of translations up to date with the texts of the source
	$(BIN)/python tools/texts.py

native: native-release native-mpi ## build and test the native half; `make test-long` does it with sanitizers, too

# The MPI of the site comes first, as in the builds of Assay: ccache then has its programs.
compiled-% native-%: export PATH := $(PATH):$(CURDIR)/$(BIN)
compiled-%: export CMAKE_GENERATOR := Ninja
IF_IT_CAN = if [ $* = mpi ] && ! command -v mpicxx > /dev/null; then echo "no mpicxx: nothing that passes messages"; exit; fi
# It compiles the same harness, which ccache then has; meanwhile the programs of a node are tested.
compiled-mpi: compiled-release

compiled-%: .venv/.test
	$(IF_IT_CAN); cd native; cmake --preset $*; cmake --build --preset $*

native-%: compiled-%
	$(IF_IT_CAN); export ASSAY_TEST_BLAS=$$($(BIN)/python -c \
		'from assay.toolchain import find_libraries; print(*[each.file for each in find_libraries("blas")[:1]])'); \
	cd native; ctest --preset $*

docs: .venv/.python ## build the documentation into docs/_build
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build
	@echo "docs/_build/index.html"

bench: .venv/.test ## measure Assay and similar tools, and print the ratios
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/analysis_speed.py
	$(BIN)/python bench/report_speed.py
	$(BIN)/python bench/large_runs.py
	$(BIN)/python bench/message_law_speed.py 200
	$(BIN)/python bench/engine_overhead.py
	$(BIN)/python bench/budget_speed.py
	$(BIN)/python bench/false_alarms.py 100
	$(BIN)/python bench/equal_runs.py 50
	$(BIN)/python bench/false_alarms.py 100 --scaling
	$(BIN)/python bench/predictions.py 3
	$(BIN)/python bench/between_runs.py
	$(BIN)/python bench/promises.py
	$(BIN)/python bench/false_confirmations.py 20
	$(BIN)/python bench/stream_ratio.py $$($(BIN)/assay build | grep /stream)
	$(BIN)/python bench/stream_size.py $$($(BIN)/assay build | grep /stream)
	$(BIN)/python bench/latency_ratio.py $$($(BIN)/assay build | grep /latency) --blocks 3 --largest 134217728
	$(BIN)/python bench/flops_ratio.py $$($(BIN)/assay build | grep /flops)
	$(BIN)/python bench/himeno_ratio.py $$($(BIN)/assay build | grep /himeno)
	$(BIN)/python bench/hpcg_ratio.py
	$(BIN)/python bench/hpl_ratio.py --n 3000
	$(BIN)/python bench/mxp_ratio.py
	$(BIN)/python bench/nas_ratio.py --class W
	$(BIN)/python bench/pt2pt_ratio.py
	$(BIN)/python bench/weather_ratio.py
	$(BIN)/python bench/collective_ratio.py --blocks 5
	$(BIN)/python bench/mpi_times_cost.py $$(dirname $$($(BIN)/assay build | grep /stream))/tree/interposed/libmpi_times.so

lab: ## as root: make a cluster of two nodes on this machine, for tests and demonstrations
	@tools/lab/lab up

lab-down: ## as root: remove this cluster
	@tools/lab/lab down

gallery: .venv/.test ## as root: make all packed runs of docs/gallery again, and the output on its pages (25 minutes)
	$(BIN)/python -m tools.gallery

clean: ## remove everything that was built here
	rm -rf .venv .bootstrap build docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/.run: $(LOCKED)
	@tools/bootstrap run
	@touch $@

# Checks and documentation need nothing else: they are made while packages of the system are installed.
.venv/.python: $(LOCKED)
	@tools/bootstrap test
	@touch .venv/.run $@

build/.packages: tools/test_packages.py
	@tools/bootstrap packages
	@mkdir -p build && touch $@

.venv/.test: .venv/.python build/.packages
	@touch $@
