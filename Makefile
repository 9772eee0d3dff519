# The usual things under short names; CMake does the work. `make test` and `make demo` need nothing installed before.

PRESET ?= release
BUILD := build/$(PRESET)
PREFIX ?= /usr/local
CONFIGURE_FLAGS ?=

.PHONY: help setup configure build test demo bench install format lint clean
.DEFAULT_GOAL := build

help:
	@echo 'make build     compile everything                    PRESET=release (also debug, asan, tsan, clang)'
	@echo 'make test      install what is missing, compile, run the tests'
	@echo 'make demo      install what is missing, compile, run the demonstration: see ./out'
	@echo 'make bench     compile and run the benchmarks'
	@echo 'make install   copy libraries, headers, command      PREFIX=/usr/local'
	@echo 'make format    format the sources'
	@echo 'make lint      check the formatting and the direction of includes'
	@echo 'make clean     remove everything built'

setup:
	@tools/setup

configure: setup
	@cmake --preset $(PRESET) $(CONFIGURE_FLAGS)

build: configure
	@cmake --build $(BUILD)

test: build
	@tools/run-tests $(BUILD)

demo: build
	@$(BUILD)/pliant demo crowd-52 --frames 120 --threads $(shell nproc)

bench: build
	@for program in $(BUILD)/bench/bench_*; do echo "$$program"; "$$program" || exit 1; done

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

format:
	@tools/format

lint:
	@tools/check-includes
	@tools/format --check

clean:
	@rm -rf build out
