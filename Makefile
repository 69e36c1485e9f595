# aura: make help lists the targets.

SHELL   := bash
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/idelchi/aura/internal/cli.version=$(VERSION)

# Packages in which goroutines meet; they are tested with the race detector
# where a C compiler allows it.
RACE := ./internal/lifecycle/... ./internal/agent/... ./internal/sh/... ./internal/session/... ./internal/provider/...

# The systems a release is built for, besides the one that builds.
CROSS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64

# Go files that people wrote; test data may be broken on purpose.
SOURCES = find . -name '*.go' -not -path './.git/*' -not -path '*/testdata/*' -not -path '*/vendor/*'

.DEFAULT_GOAL := help
.PHONY: help build demo test lint fmt vet unit race cross bench conformance generate clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./aura
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o aura .

demo: build ## build and play the demo; needs no key and no network
	./aura demo

test: fmt vet unit race cross conformance ## everything that must hold before a change is merged
	@echo "make test: all good"

lint: fmt vet ## format and vet; staticcheck too where it is installed
	@if command -v staticcheck >/dev/null; then staticcheck ./... && cd sdk && staticcheck ./...; \
	else echo "staticcheck is not installed: skipped"; fi

fmt:
	@files=$$($(SOURCES) -print0 | xargs -0 gofmt -l) || exit 1; \
	if [ -n "$$files" ]; then printf 'not formatted, run gofmt -w:\n%s\n' "$$files"; exit 1; fi

vet:
	$(GO) vet ./...
	cd sdk && $(GO) vet ./...

unit:
	$(GO) test $$($(GO) list ./... | grep -vxFf <($(GO) list $(RACE)))
	cd sdk && $(GO) test ./...

race:
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null; then \
		echo "$(GO) test -race $(RACE)"; $(GO) test -race $(RACE); \
	else \
		echo "no C compiler, so without the race detector: $(GO) test $(RACE)"; $(GO) test $(RACE); \
	fi

cross: ## build for the other systems
	@for target in $(CROSS); do \
		echo "build $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -o /dev/null . || exit 1; \
	done

bench: build ## measure against plain Go programs; prints ratios, asserts nothing
	$(GO) run ./bench -aura ./aura

conformance: ## count the statements of docs/conformance.md that tests claim
	$(GO) run ./internal/cmd/conformance

generate: ## write generated files anew
	cd sdk && $(GO) generate ./...
	$(GO) generate ./...

clean: ## remove what make built
	rm -rf aura bin dist
