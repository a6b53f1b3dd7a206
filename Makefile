# The usual verbs. Each is one line over a script or the go command.

.PHONY: help build code model test race lint fuzz bench ci clean

help: ## list the verbs
	@awk -F ': ## ' '/^[a-z]+: ## / { printf "%-8s %s\n", $$1, $$2 }' Makefile

build: ## build bin/parley
	go build -o bin/ ./cmd/parley

code: ## build bin/parley-code, if there is a C compiler
	@if scripts/c-compiler; then go -C code build -o ../bin/ ./cmd/parley-code; else echo "bin/parley-code is not built"; fi

model: ## build bin/parley-model
	go -C model build -o ../bin/ ./cmd/parley-model

test: ## run all tests, and say what was skipped
	scripts/test

race: ## run all tests with the race detector (needs a C compiler)
	scripts/test -race

lint: ## gofmt, go vet, staticcheck, go fix, go mod tidy, govulncheck
	scripts/lint

fuzz: ## run every fuzz target for FUZZTIME (10s)
	scripts/fuzz

bench: ## run all benchmarks
	go test -run '^$$' -bench . -benchmem ./...

ci: ## everything that a change has to pass
	bash .ci/run

clean: ## remove what was built and fetched
	rm -rf bin .cache
