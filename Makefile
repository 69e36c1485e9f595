# aura: make help lists the targets.

SHELL   := bash
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/idelchi/aura/internal/cli.version=$(VERSION)

# The race detector, where a C compiler allows it.
RACE = $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null && echo -race)

# Tests of the source and of programs for developers: they start nothing of aura, and
# much reading is slow under the race detector.
SHAPE := ./internal ./internal/cmd/... ./sdk/internal/...

# The systems a release is built for. `make test` checks the types for each.
CROSS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64

# Linters live in a module of their own: what they need is not what aura needs. A
# workspace and -modfile exclude each other, so the linter is built outside and run inside.
LINTER := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
TOOLS   = GOWORK=off $(GO)

# Go files that people wrote; test data may be broken on purpose.
SOURCES = find . -name '*.go' -not -path './.git/*' -not -path '*/testdata/*' -not -path '*/vendor/*' -not -path './third_party/*'

.DEFAULT_GOAL := help
.PHONY: help build demo test lint fmt vet shape unit cross bench conformance mutate generate tidy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./aura
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o aura .

demo: build ## build and play the demo; needs no key and no network
	./aura demo

test: fmt lint shape unit conformance ## everything that must hold before a change is merged
	@echo "make test: all good"

# With the race detector's packages, which the tests need anyway.
lint: fmt ## golangci-lint, staticcheck among it; go vet where it cannot be had
	@if why=$$($(TOOLS) list -modfile=tools/go.mod -deps $(LINTER) 2>&1 >/dev/null); then \
		linter=$$($(TOOLS) tool -n -modfile=tools/go.mod golangci-lint) || exit 1; \
		echo "golangci-lint run ./... ./sdk/..."; \
		GOFLAGS="$$($(GO) env GOFLAGS) $(RACE)" "$$linter" run ./... ./sdk/...; \
	else \
		echo "golangci-lint is skipped, its modules cannot be loaded: $$(tail -n 1 <<<"$$why")"; \
		$(MAKE) --no-print-directory vet; \
	fi

fmt:
	@files=$$($(SOURCES) -print0 | xargs -0 gofmt -l) || exit 1; \
	if [ -n "$$files" ]; then printf 'not formatted, run gofmt -w:\n%s\n' "$$files"; exit 1; fi

vet:
	$(GO) vet $(RACE) ./... ./sdk/...

shape: ## the source: layers, generated files, words, types on all systems
	$(GO) test -vet=off $(SHAPE)

unit: ## the tests, with the race detector where there is a C compiler
	@$(if $(RACE),,echo "no C compiler: without the race detector;") \
	all=$$($(GO) list ./... ./sdk/...) && shape=$$($(GO) list $(SHAPE)) || exit 1; \
	packages=$$(grep -vxF "$$shape" <<<"$$all"); \
	echo "$(GO) test $(RACE) -vet=off <all but $(SHAPE)>"; export GORACE=atexit_sleep_ms=10; \
	$(GO) test $(RACE) -vet=off $$packages

cross: ## build for the other systems
	@for target in $(CROSS); do \
		echo "build $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -o /dev/null . || exit 1; \
	done

bench: build ## measure against plain Go programs; prints ratios, asserts nothing
	$(GO) run ./bench -aura ./aura

mutate: ## break what claiming tests run, print claims that do not notice; ARGS='-package ./internal/hooks -n 5'
	$(GO) run ./internal/cmd/conformance -mutate $(ARGS)

conformance: ## count the statements of docs/conformance.md that tests claim
	$(GO) run ./internal/cmd/conformance

# The tests that hold tables, enumerations and types to the code write them with -update.
GENERATED := TestArchitecture|TestAdditionsTable|TestLifecycleTable|TestHookEvents|TestPythonEvents|TestProviderEnum

generate: ## write generated files anew
	$(GO) generate ./... ./sdk/...
	$(GO) test ./internal -run '$(GENERATED)' -update

# go.mod asks for a version of the SDK that may not be published; `go mod tidy` knows no
# workspace.
tidy: ## go mod tidy, with the SDK of this directory
	$(GO) mod edit -replace github.com/idelchi/aura/sdk=./sdk
	GOWORK=off $(GO) mod tidy; code=$$?; $(GO) mod edit -dropreplace github.com/idelchi/aura/sdk; exit $$code
	cd sdk && GOWORK=off $(GO) mod tidy
	cd tools && GOWORK=off $(GO) mod tidy

clean: ## remove what make built
	rm -rf aura bin dist
