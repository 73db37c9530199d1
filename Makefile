# make demo   cluster a bundled table and show what was found
# make install  all that test, demo and docs need, at once
# make quick  style, types, layers and the tests that stay in one process, in about a minute
# make test   style, types, layers and the whole test suite with its coverage gate
# make data-test  the tests that need data sets which are not bundled: CATALPA_DATA=folder
# make nocore install with the compiler hidden and fit on the NumPy reference
# make fuzz   look for inputs that break it: MINUTES=30
# make mutants  change the code in small places and list what no test notices: SAMPLE=200 SEED=0
# make sanitize  the core and its tests under the sanitizers of the compiler
# make compilers  the core and its tests with Clang, and without vectors and 128-bit integers
# make floors  the lowest versions that are declared, exactly
# make release-check  archives and wheels as users get them, tested on every Python here
# make docs   build the site into docs/_build/html
# make bench  measure the speed beside other programs, and renew its page
# make bench-check  the same, as a check: an error where a ratio is below its bar
#
# Each creates .venv when it is missing. PYTHON=python3.12 make test uses another interpreter.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Modules are compiled when they are first imported, and kept: most of what is installed never is.
ADD := $(PIP) install --no-compile
unexport PYTHONDONTWRITEBYTECODE
PYTEST_ARGS ?= -n 2 --dist worksteal -q
MINUTES ?= 30
SAMPLE ?= 200
SEED ?= 0
# The core is compiled while packages are fetched, and types are checked beside layers and the first tests.
MAKEFLAGS += -j2 --no-print-directory
BUILD_INPUTS := pyproject.toml CMakeLists.txt $(wildcard src/catalpa/steps/core/*.cpp src/catalpa/steps/core/*.hpp src/catalpa/steps/core/*/*.cpp src/catalpa/steps/core/*/*.hpp)

.PHONY: install demo quick test style types types-windows layers quick-suite suite data-test fuzz mutants sanitize compilers floors nocore release-check docs bench bench-check changelog clean

install: $(VENV)/core $(VENV)/packages-test-docs

demo: $(VENV)/installed
	$(BIN)/catalpa demo

quick: style types layers quick-suite

test: style types types-windows layers suite

# A worker has a core for itself: threads of a library would wait for those of the other worker.
quick-suite suite data-test: export OMP_NUM_THREADS = 1
quick-suite suite data-test: export OPENBLAS_NUM_THREADS = 1
quick-suite: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) --quick

data-test: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m data

suite: $(VENV)/installed-test
	$(BIN)/python -c "import catalpa.steps._core"
	$(BIN)/python -m pytest $(PYTEST_ARGS) --cov --cov-report=term

style: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_words.py README.md CONTRIBUTING.md SECURITY.md docs src

types: $(VENV)/installed-test
	$(BIN)/mypy --strict src

# Windows lacks parts of os and signal, which only shows when they are used.
types-windows: $(VENV)/installed-test
	$(BIN)/mypy --strict --platform win32 --cache-dir .mypy_cache/win32 src

layers: $(VENV)/installed-test
	$(BIN)/lint-imports

fuzz: $(VENV)/installed-test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

mutants: export OMP_NUM_THREADS = 1
mutants: export OPENBLAS_NUM_THREADS = 1
mutants: $(VENV)/installed-test
	$(BIN)/python tools/mutants.py --sample $(SAMPLE) --seed $(SEED) --jobs 2

sanitize: $(VENV)/installed-test
	$(PIP) install nanobind
	$(BIN)/python tools/check_core.py address thread

compilers: $(VENV)/installed-test
	$(PIP) install nanobind
	$(BIN)/python tools/check_core.py plain clang clang-plain

floors:
	$(PYTHON) -m venv --clear build/floors
	build/floors/bin/python -m pip -q install -c tools/floors.txt . pytest hypothesis psutil kmodes
	build/floors/bin/python -c "import catalpa.steps._core"
	build/floors/bin/python -m pytest -q -p no:cacheprovider -o pythonpath=. tests/golden tests/steps tests/cluster/test_kmodes.py

nocore: $(VENV)/packages
	$(BIN)/python tools/check_nocore.py

release-check: $(VENV)/installed-test
	$(BIN)/python tools/release_check.py

docs: $(VENV)/installed-docs
	rm -rf docs/_build/html docs/reference/api/generated  # no page of a name that is gone
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html

bench: $(VENV)/installed-bench
	-$(BIN)/python benchmarks/check.py --store results/performance.json
	$(BIN)/python tools/performance_page.py

bench-check: $(VENV)/installed-bench
	$(BIN)/python benchmarks/check.py

changelog: $(VENV)/packages
	$(ADD) towncrier
	$(BIN)/towncrier build --yes

clean:
	rm -rf build dist docs/_build docs/gallery docs/made docs/reference/api/generated .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache

# An editable install: Python files are read from src, so only what is compiled or declared asks for another.
$(VENV)/core: $(BUILD_INPUTS) | $(BIN)/python
	$(PIP) install --no-deps --editable .
	@touch $@

# Packages of an extra by themselves: asking for them together with ours would compile the core again.
define fetch
	$(BIN)/python tools/requirements.py $(1) > $@.txt
	$(ADD) -r $@.txt
endef

$(VENV)/packages: pyproject.toml | $(BIN)/python
	$(call fetch,report)
	@touch $@

$(VENV)/packages-test: pyproject.toml | $(BIN)/python
	$(call fetch,test)
	@touch $(VENV)/packages $@

$(VENV)/packages-docs: pyproject.toml | $(BIN)/python
	$(call fetch,docs)
	@touch $(VENV)/packages $@

$(VENV)/packages-test-docs: pyproject.toml | $(BIN)/python
	$(call fetch,test docs)
	@touch $(VENV)/packages $(VENV)/packages-test $(VENV)/packages-docs $@

$(VENV)/installed: $(VENV)/core $(VENV)/packages
	@touch $@

$(VENV)/installed-test: $(VENV)/core $(VENV)/packages-test
	@touch $(VENV)/installed $@

$(VENV)/installed-docs: $(VENV)/core $(VENV)/packages-docs
	@touch $(VENV)/installed $@

$(VENV)/installed-bench: $(VENV)/installed-test
	$(ADD) kmodes FasterKModes stepmix prince
	@touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
