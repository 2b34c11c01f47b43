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
BPF_SOURCES = $(shell find schedulers probes crates -name '*.[ch]' 2>/dev/null)
FUZZ_SECONDS ?= 60
BENCHES = help_time bpfvm verdict_errors first_sample between_samples scheduler_cost attach_cost probe_cost disk_rate equal_bytes copies_and_boots parallel_time any_looking two_looks
OLDER_KERNELS = 6.16 6.17 6.18
SOAK_INTERRUPTIONS ?= 1000
SOAK_SEED ?= $(shell date +%s)
# Of make mutants.
SEED ?= 1
COUNT ?= 100

.PHONY: help setup kernel qemu image demo test test-all soak fuzz mutants check bench campaigns screens pictures wheel release container clean

help:
	@echo 'make setup   system packages, Rust, Python and runoff itself in $(VENV)'
	@echo 'make kernel  a kernel for the lab from Debian'
	@echo 'make qemu    the lab'"'"'s own QEMU, for several CPUs under the virtual clock'
	@echo 'make image   the root file system of the demo'
	@echo 'make demo    setup, kernel, qemu, image, then a first comparison in the lab'
	@echo 'make test    setup, kernel, qemu, image, then what every change has to pass'
	@echo 'make test-all  every test there is, or ONLY=tests/lab/test_disk.py'
	@echo 'make soak    interrupts campaigns on this machine SOAK_INTERRUPTIONS (1000) times, as root; drawn by SOAK_SEED'
	@echo 'make fuzz    every target of fuzz/ for FUZZ_SECONDS (60) each'
	@echo 'make mutants  changes COUNT (100) places of the statistics, drawn by SEED (1), and counts what no test notices'
	@echo 'make check   formats, lints, types and house rules'
	@echo 'make bench   measures what runoff itself costs (bench/README.md)'
	@echo 'make campaigns  takes the campaigns in docs/campaigns anew, in two hours; programs of the scx project by runoff scx add'
	@echo 'make screens  prints the screens that the pages show, of the campaigns in docs/campaigns'
	@echo 'make pictures  draws the pictures of docs'
	@echo 'make wheel   a wheel with runoff and its agent in build/wheels'
	@echo 'make release  wheel, source, list of parts and digests in build/release'
	@echo 'make clean   remove what was built here (the cache of kernels and images stays)'

setup: $(STAMPS)/runoff

$(STAMPS)/system: tools/setup
	@tools/setup system
	@mkdir -p $(@D) && touch $@

$(STAMPS)/rust: tools/setup $(STAMPS)/system
	@tools/setup rust
	@mkdir -p $(@D) && touch $@

$(STAMPS)/python: tools/setup requirements.lock $(STAMPS)/system
	@tools/setup python
	@mkdir -p $(@D) && touch $@

$(STAMPS)/runoff: $(STAMPS)/rust $(STAMPS)/python $(AGENT_SOURCES) $(PACKAGE_SOURCES)
	@tools/setup runoff
	@mkdir -p $(@D) && touch $@

$(STAMPS)/tests: tools/setup requirements-dev.lock $(STAMPS)/python
	@tools/setup tests
	@mkdir -p $(@D) && touch $@

$(STAMPS)/release: tools/setup requirements-release.lock $(STAMPS)/tests
	@tools/setup release
	@mkdir -p $(@D) && touch $@

$(STAMPS)/guest: tools/setup $(STAMPS)/rust $(STAMPS)/python
	@tools/setup guest
	@mkdir -p $(@D) && touch $@

kernel: setup
	@runoff kernel list | grep -q '^debian:.*sched_ext: yes' || runoff kernel add debian

qemu: setup
	@runoff qemu build

image: setup
	runoff image build --work hackbench --work counters

demo: setup
	@runoff demo

# What every change has to pass: all that needs no guest, and a core of the rest.
test: export RUNOFF_REQUIRE_LAB := 1
test: setup $(STAMPS)/tests kernel qemu image
	tests/alone cargo test --release --workspace --locked
	tests/alone pytest -n 2 --no-loadscope-reorder --durations 10 -m 'core or not (lab or host)'

# Tests of one file share a guest.
# Schedulers are tried on older kernels with sched_ext too, as long as Debian has them.
test-all: export RUNOFF_REQUIRE_LAB := 1
test-all: export VERDICT_TABLES := 20000
test-all: export MACHINE_CAMPAIGNS := 300
test-all: export STOPPING_CAMPAIGNS := 700
test-all: export POWER_REPORTS := 2000
test-all: export ADVICE_CAMPAIGNS := 300
test-all: export RISK_CAMPAIGNS := 250
test-all: export UNPAIRED_TABLES := 2000
test-all: export FEW_REPORTS := 2000
test-all: export IMPORT_FILES := 8000
test-all: export DRAWN_PROGRAMS := 10000
test-all: setup $(STAMPS)/tests kernel qemu image $(STAMPS)/guest
	runoff image build --work compile
	runoff image build --load ctar --load list --load dbench
	runoff image build --work ffmpeg --work render --work lrzip
	runoff image build --work make
	runoff image build $(foreach each,redis nginx pgbench sysbench stress-ng 7zip fio rt-app,--work $(each))
	-for each in $(OLDER_KERNELS); do \
		runoff kernel list | grep -q "^debian:$$each\." || runoff kernel add debian:$$each; \
	done
	$(if $(ONLY),,cargo check --manifest-path fuzz/Cargo.toml --locked)
	$(if $(ONLY),,cargo check --manifest-path bench/elevators/Cargo.toml --benches --locked)
	$(if $(ONLY),,tests/alone cargo test --release --workspace --locked)
	$(if $(ONLY),,BPF_PROGRAMS=100000 cargo test --release --locked -p bpfvm --test agreeing)
	$(if $(ONLY),,BPF_SEEDS=500 cargo test --release --locked -p bpfvm --test traces)
	$(if $(ONLY),,PROPTEST_CASES=1000000 cargo test --release --locked -p numbers --test forms)
	$(if $(ONLY),,cargo test --release --locked -p runoff-agent --test session a_container_that_is_gone)
	tests/alone pytest -n 2 --no-loadscope-reorder --seconds-by-file $(ONLY)

# Of what `make test-all` interrupts a hundred times, with a seed of its own each time.
soak: export SOAK_INTERRUPTIONS := $(SOAK_INTERRUPTIONS)
soak: export SOAK_SEED := $(SOAK_SEED)
soak: setup $(STAMPS)/tests
	tests/alone pytest --capture=no tests/host/test_host_soak.py

# The stable compiler has what fuzzing needs but for the sanitizers, which find nothing in code without unsafe blocks.
# What is found on the way is kept in build/fuzz, and used again; what fails, in fuzz/artifacts.
fuzz: export RUSTC_BOOTSTRAP := 1
fuzz: $(STAMPS)/rust
	cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked
	cargo fuzz build --sanitizer none
	for each in $$(cargo fuzz list); do \
		mkdir -p build/fuzz/$$each && \
		words=fuzz/dictionaries/$$each.dict && \
		cargo fuzz run --sanitizer none $$each build/fuzz/$$each fuzz/corpus/$$each -- \
			-max_total_time=$(FUZZ_SECONDS) $$(test ! -f $$words || echo -dict=$$words) || exit; \
	done

mutants: setup $(STAMPS)/tests
	tools/mutants --seed $(SEED) --count $(COUNT)

check: setup $(STAMPS)/tests
	ruff check
	ruff format --check
	mypy
	cargo fmt --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo fmt --check --manifest-path bench/elevators/Cargo.toml
	cargo clippy --release --workspace --all-targets --locked -- -D warnings
	$(if $(BPF_SOURCES),clang-format-19 --dry-run -Werror $(BPF_SOURCES))
	pytest -q tests/unit/house/test_tidy.py
	tools/screens --check

bench: setup $(STAMPS)/tests kernel qemu image
	for each in $(BENCHES); do python bench/$$each.py || exit; done
	cargo bench --locked --manifest-path bench/elevators/Cargo.toml --target-dir target

campaigns: setup $(STAMPS)/tests kernel qemu image
	runoff image build --work compile
	tools/campaigns

screens: setup $(STAMPS)/tests
	tools/screens

pictures: setup kernel
	python tools/pictures
	python tools/head_pictures

wheel: setup $(STAMPS)/tests
	tools/package_files
	maturin build --release --out build/wheels

# What is published: a wheel and the source, lists of what they are made of (CycloneDX), and the digests of all.
release: setup $(STAMPS)/tests $(STAMPS)/release
	rm -rf build/release
	tools/package_files
	maturin build --release --out build/release
	unzip -p build/release/*.whl '*/METADATA' >build/PKG-INFO
	name=$$(runoff --version | sed 's/.* //; s/^/runoff-/') && \
		git archive --prefix=$$name/ --add-file=build/PKG-INFO HEAD | gzip -n >build/release/$$name.tar.gz
	unzip -p build/release/*.whl '*/sboms/*' >build/release/runoff-agent.cdx.json
	cyclonedx-py requirements --output-reproducible -o build/release/runoff.cdx.json requirements.lock
	cd build/release && sha256sum * >SHA256SUMS
	@ls -l build/release

clean:
	rm -rf $(VENV) build target .pytest_cache .mypy_cache .ruff_cache .hypothesis
