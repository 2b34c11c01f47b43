# make help names the targets. Everything lives in .venv, target and the user's cache; make clean removes the first two.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMPS := build/stamps
# Objects that schedulers' tests need, built beside the agent.
export RUNOFF_TEST_OBJECTS := $(CURDIR)/build/test-objects
export PATH := $(CURDIR)/$(BIN):$(HOME)/.cargo/bin:$(PATH):/usr/sbin:/sbin

AGENT_SOURCES := $(shell find crates schedulers probes tests/objects .cargo Cargo.toml Cargo.lock -type f 2>/dev/null)
PACKAGE_SOURCES := pyproject.toml $(wildcard packaging/scripts/*)
BPF_SOURCES = $(shell find schedulers probes crates/agent/src -name '*.[ch]' 2>/dev/null)
DEMO = default bfs --work hackbench --work counters --on lab --clock real --cpus 2 --blocks 5
BENCHES = help_time first_sample between_samples scheduler_cost probe_cost disk_rate

.PHONY: help setup kernel image demo test check bench pictures wheel clean

help:
	@echo 'make setup   system packages, Rust, Python and runoff itself in $(VENV)'
	@echo 'make kernel  a kernel for the lab from Debian'
	@echo 'make image   the root file system of the demo'
	@echo 'make demo    setup, kernel, image, then a first comparison in the lab'
	@echo 'make test    setup, kernel, image, then every test'
	@echo 'make check   formats, lints, types and house rules'
	@echo 'make bench   measures what runoff itself costs (bench/README.md)'
	@echo 'make pictures  draws docs/schedulers/pictures and docs/elevators/pictures'
	@echo 'make wheel   a wheel with runoff and its agent in build/wheels'
	@echo 'make clean   remove what was built here (the cache of kernels and images stays)'

setup: $(STAMPS)/runoff

$(STAMPS)/system: tools/setup
	tools/setup system
	@mkdir -p $(@D) && touch $@

$(STAMPS)/rust: tools/setup $(STAMPS)/system
	tools/setup rust
	@mkdir -p $(@D) && touch $@

$(STAMPS)/python: tools/setup requirements.lock $(STAMPS)/system
	tools/setup python
	@mkdir -p $(@D) && touch $@

$(STAMPS)/runoff: $(STAMPS)/rust $(STAMPS)/python $(AGENT_SOURCES) $(PACKAGE_SOURCES)
	tools/setup runoff
	@mkdir -p $(@D) && touch $@

$(STAMPS)/guest: tools/setup $(STAMPS)/rust $(STAMPS)/python
	tools/setup guest
	@mkdir -p $(@D) && touch $@

kernel: setup
	@runoff kernel list | grep -q '^debian:.*sched_ext: yes' || runoff kernel add debian

image: setup
	runoff image build --work hackbench --work counters

demo: setup kernel image
	runoff compare $(DEMO)

# Tests of one file share a guest; what measures whether two CPUs are busy has both of a small host for itself.
# Schedulers are tried on the oldest kernel with sched_ext in Debian too, while it is there.
test: export RUNOFF_REQUIRE_LAB := 1
test: setup kernel image $(STAMPS)/guest
	runoff image build --work compile
	runoff image build --load ctar --load list --load dbench
	runoff image build --work ffmpeg --work render --work lrzip
	runoff image build --work make
	-runoff kernel list | grep -q '^debian:6\.18' || runoff kernel add debian:6.18
	cargo test --release --workspace --locked
	pytest -n 2 --no-loadscope-reorder -m 'not both_cpus'
	pytest -m both_cpus

check: setup
	ruff check
	ruff format --check
	mypy
	cargo fmt --check
	cargo clippy --release --workspace --all-targets --locked -- -D warnings
	$(if $(BPF_SOURCES),clang-format-19 --dry-run -Werror $(BPF_SOURCES))
	pytest -q tests/unit/test_tidy.py

bench: setup kernel image
	for each in $(BENCHES); do python bench/$$each.py || exit; done

pictures: setup kernel
	python tools/pictures
	python tools/head_pictures

wheel: setup
	maturin build --release --out build/wheels

clean:
	rm -rf $(VENV) build target .pytest_cache .mypy_cache .ruff_cache .hypothesis
