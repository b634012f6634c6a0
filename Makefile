# Each target works alone on a fresh clone: it makes .venv, installs what it needs, and runs.
SHELL := /bin/sh
# the first Python on this machine that is 3.11 or newer
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# uv takes a tenth of pip's time; it reads no pip.conf, so where it finds nothing pip tries
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt
install = @$(UV) -e '$(1)' || { echo "uv could not install it; pip tries ..." >&2; $(PIP) -e '$(1)'; }
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
# without bytecode on disk, each of the many processes that tests start would compile every module again
unexport PYTHONDONTWRITEBYTECODE

SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist loadfile

.PHONY: demo test test-suite test-kernels test-lowest lint docs papers bench release-check clean

demo: .venv/core
	@$(BIN)/rulerank demo

test: test-suite test-kernels

test-suite: .venv/dev
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

# the compiled loops as plain Python, where an index out of bounds is an error
test-kernels: .venv/dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m kernels $(shell grep -rl --include='*.py' 'mark\.kernels' tests papers)

# the core tests with the oldest versions that pyproject.toml allows, in an environment of their own
CORE := tests/test_*.py $(addprefix tests/,_util discretize evaluation fusion io rankers rules sampling selection text cli)
test-lowest: .venv/lowest/done
	.venv/lowest/bin/python -m pytest $(SIDE_BY_SIDE) $(CORE) --ignore tests/cli/test_labels.py

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the site, in build/site: every warning is an error, and the pages load nothing from elsewhere
docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# what a release must pass: built, described as package indexes want it, installed where nothing else is, tried
release-check: .venv/release
	rm -rf dist build/release
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m venv build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	cd build/release && bin/rulerank --version && bin/rulerank demo

# the papers on the folds of LETOR that DATA holds: the table of docs/papers.md, and reports in build/papers
papers: .venv/dev
	@test -n "$(DATA)" || { echo "say where the folds are: make papers DATA=/path/to/letor" >&2; exit 1; }
	$(BIN)/python -m papers "$(DATA)"

bench: .venv/bench
	@for f in benchmarks/bench_*.py; do $(BIN)/python $$f || exit 1; done

clean:
	rm -rf .venv build dist

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "rulerank needs Python 3.11 or newer; call: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@echo "Making .venv ..." >&2
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }
	@$(PIP) uv || echo "no uv for this machine: pip installs everything" >&2

.venv/core: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing rulerank into .venv (a minute the first time) ..." >&2
	$(call install,.)
	@touch $@

.venv/dev: .venv/core
	@echo "Installing the test and lint tools into .venv ..." >&2
	$(call install,.[dev])
	@touch $@

.venv/docs: .venv/core
	@echo "Installing what builds the site into .venv ..." >&2
	$(call install,.[docs])
	@touch $@

.venv/release: .venv/core
	@echo "Installing what builds a release into .venv ..." >&2
	$(call install,.[release])
	@touch $@

.venv/lowest/done: .venv/bin/python pyproject.toml
	@echo "Installing the oldest versions allowed into .venv/lowest ..." >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv/lowest
	@$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python --resolution lowest-direct --only-binary :all: \
		--no-binary rulerank -e '.[pandas,compare,postgres,report,text]'
	@$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python pytest pytest-xdist hypothesis pytrec-eval-terrier
	@touch $@

.venv/bench: .venv/dev
	@echo "Installing the competing libraries to measure against into .venv ..." >&2
	$(call install,.[bench])
	@touch $@
