# Go, git and make are all that is needed. `make` alone lists the targets.

SHELL       := /bin/bash -o pipefail
.DEFAULT_GOAL := help

# scripts/tools, secretrules and vulnerabilities are modules of their own, outside the workspace.
PACKAGES := ./...
# Where goroutines meet: what `make race` and `make check` run under the race detector.
CONCURRENT := ./pkg/agent ./pkg/engine ./pkg/service $(addsuffix /...,$(addprefix ./,pkg/engine/client pkg/engine/dispatch pkg/engine/enginetest pkg/engine/eventstore pkg/engine/projection pkg/service/embedded services/orchestrator pkg/testkit/faultproxy))
# What takes longest, to begin with: nothing else is left to run beside the last.
# Those that compute and those that wait, for a lease or a browser, take turns in the list: they run beside each other.
LONGEST := $(addprefix ./,services/e2e pkg/engine/eventstore/jetstream services/shepherd/app pkg/agent pkg/agent/role services/signalbox/demo \
	services/signalbox/cli services/pm/app services/signalbox/resolve services/console/app docs pkg/testkit/crashtest services/gateway/app \
	services/orchestrator/app services/orchestrator/api services/signalbox/allinone pkg/agent/environment deploy pkg/agent/workspace \
	services/orchestrator services/signalbox/bench pkg/agent/sandbox services/committer/app pkg/localforge)
# This many packages at a time.
BESIDE ?= -p=3
# `make test RUN=Handle` narrows, `make test FLAGS=-count=1` adds.
RUN   ?=
FLAGS ?=
# Tests, and the programs that they start, live for seconds and have memory: their collector may wait. A
# tenth of the processor time of the tests went there.
test race lint: export GOGC ?= 400
# One timeout for all targets: the result of one is the result of the other, as of archtest. Vet is a part of
# `make check`; here it would read all packages that the tests import once more.
TEST  := go test -vet=off -timeout=30m $(if $(RUN),-run '$(RUN)') $(FLAGS)

## The product

# Symbols for debuggers are half of a program, and panics do not need them.
LDFLAGS  := -ldflags="-s -w"
# The program that people install serves each service that holds no token of a forge, and
# signalbox-github the others. Each service is a link to its program.
PROGRAMS := signalbox signalbox-github
HOLDERS  := $(shell sed -n 's|.*/services/\([a-z-]*\)/app"|\1|p' services/signalbox-github/main.go)
SERVICES := $(filter-out $(PROGRAMS),$(patsubst services/%/main.go,%,$(wildcard services/*/main.go)))

.PHONY: build
build: ## build both programs into bin/, and a link for each service
	go build $(LDFLAGS) -o bin/ $(PROGRAMS:%=./services/%)
	@for s in $(HOLDERS); do ln -sf signalbox-github bin/$$s; done
	@for s in $(filter-out $(HOLDERS),$(SERVICES)); do ln -sf signalbox bin/$$s; done

.PHONY: demo
demo: ## watch one bug go from an issue to a pull request
	go build $(LDFLAGS) -o bin/ ./services/signalbox
	bin/signalbox demo

.PHONY: up
up: ## run everything in one process until interrupted
	go build $(LDFLAGS) -o bin/ ./services/signalbox
	bin/signalbox up

## Tests

# A version manager's shim runs for ten times as long as the python3 that it starts, and the tests start
# some hundreds. They take the next one of PATH instead, if that has pip.
UNSHIMMED = $(shell printf '%s' "$$PATH" | tr ':' '\n' | grep -v '/shims$$' | paste -sd: -)

.PHONY: test
test: export PATH := $(if $(shell PATH='$(UNSHIMMED)' python3 -m pip --version 2>/dev/null),$(UNSHIMMED),$(PATH))
test: ## run all tests
	. scripts/scratch; $(TEST) $(BESIDE) $(LONGEST) $(PACKAGES)

# Tests that can run beside others mostly wait there, for leases.
.PHONY: race
race: ## test the concurrent packages, but on no clusters, under the race detector (needs a C compiler)
	$(TEST) -race -short -parallel=6 $(CONCURRENT)

.PHONY: cover
cover: ## test with coverage, figures by function in coverage.out
	$(TEST) -coverprofile=coverage.out -coverpkg=./pkg/...,./services/... ./...
	go tool cover -func=coverage.out | tail -1

.PHONY: bench
BENCH ?=
bench: ## measure the engine against raw JetStream, figures in bin/bench.json (BENCH=--large)
	go build $(LDFLAGS) -buildvcs=true -o bin/ ./services/signalbox/bench/signalbox-bench
	bin/signalbox-bench --out bin/bench.json $(BENCH)

.PHONY: whatif
ISSUES ?= 200
whatif: ## hold the answers of whatif against ISSUES=200 real runs under each other policy
	SIGNALBOX_RUNS=$(ISSUES) go test -count=1 -timeout=1h -v -run=WhatifIsRightAboutRuns ./services/signalbox/cli

.PHONY: figures
EVENTS ?= 1000000
figures: ## how long audit, whatif, export and backup take for EVENTS=1000000 events, and `at` for an instance with 10,000
	SIGNALBOX_EVENTS=$(EVENTS) go test -run='^$$' -bench='History|At$$' -benchtime=1x -timeout=1h ./services/signalbox/cli

.PHONY: million
KEPT ?= 1000000
million: ## starts, memory, lists and takeover of an orchestrator with KEPT=1000000 instances in its log, figures in bin/million.json
	go build $(LDFLAGS) -buildvcs=true -o bin/ ./services/signalbox/bench/signalbox-bench
	bin/signalbox-bench --scenario kept --kept $(KEPT) --repeats 1 --sync 2m --out bin/million.json

.PHONY: tools
tools: ## build into bin/ the programs that measure: signalbox-bench, and signalbox-eval with the signalbox that it runs
	go build $(LDFLAGS) -o bin/ ./services/signalbox ./services/signalbox/bench/signalbox-bench ./services/signalbox/eval/signalbox-eval

.PHONY: soak
RUNS ?= 500
soak: ## kill processes at random moments for RUNS=500 issues, and have three developers work on as many at a time
	SIGNALBOX_SOAK=$(RUNS) go test -count=1 -timeout=0 -v -run='Kill|ManyWork' ./services/...

.PHONY: chaos
CHAOS ?= 500
chaos: ## every fault there is under CHAOS=500 issues of all lifecycles (SIGNALBOX_SEED= draws them again)
	SIGNALBOX_CHAOS=$(CHAOS) go test -count=1 -timeout=0 -v -run=Chaos ./services/e2e

.PHONY: models
models: ## solve the demonstration's issue by scripted models of each API in the sandbox, and time their loop
	SIGNALBOX_MODELS=1 go test -count=1 -v -run=DemonstrationsIssue ./services/signalbox/resolve
	go test -run='^$$' -bench=Turn -benchtime=20x ./pkg/agent/brain/model

.PHONY: clis
CLIS ?= bin/clis
clis: ## install claude, codex, gemini and opencode from npm below CLIS=bin/clis, and try each through its preset with a scripted model
	@npm ping >/dev/null 2>&1 || { echo "make clis: skipped: npm or its registry is not here"; exit 0; }; \
	mkdir -p $(CLIS) && SIGNALBOX_CLIS=$(abspath $(CLIS)) go test -count=1 -timeout=0 -run=CodingCLIs ./services/signalbox/clis

.PHONY: verdicts
MIRRORS ?=
verdicts: ## the verdict on real bugs of public repositories, in six variants each, from clones below MIRRORS= or fetched
	go build $(LDFLAGS) -o bin/ ./services/signalbox
	MIRRORS=$(MIRRORS) scripts/verdicts

.PHONY: timers
TIMERS ?= 10000
timers: ## kill and restart everything under TIMERS=10000 durable timers
	SIGNALBOX_TIMERS=$(TIMERS) go test -count=1 -timeout=0 -v -run=Timers ./services/e2e

.PHONY: burst
DELIVERIES ?= 10000
burst: ## deliver DELIVERIES=10000 by webhook while nats-server is killed; measure how soon a comment is a signal
	SIGNALBOX_BURST=$(DELIVERIES) go test -count=1 -timeout=0 -v -run='Burst|WithinASecond' ./services/gateway/app

.PHONY: outage
OUTAGE ?= 2m
outage: ## an issue goes on to its merge, while its forge is away for OUTAGE=2m, loses answers, and shows lists of 10 s ago
	SIGNALBOX_OUTAGE=$(OUTAGE) go test -count=1 -timeout=0 -v -run=OutageOfTheForge ./services/signalbox/allinone

.PHONY: linear
SENDS ?= 100000
linear: ## check SENDS=100000 commands and queries for linearizability, while everything is killed
	SIGNALBOX_LINEAR=$(SENDS) go test -count=1 -timeout=0 -v -run=Linearizab ./services/e2e

.PHONY: cluster
STRIKES ?= 100
cluster: ## kill, cut off, pause and restart the servers of a cluster, STRIKES=100 times in each sync mode
	SIGNALBOX_CLUSTER=$(STRIKES) go test -count=1 -timeout=0 -v -run=Cluster ./services/e2e

.PHONY: crash
crash: ## have every forge-side service crash at each of its calls, all of them
	SIGNALBOX_CRASH=1 go test -count=1 -timeout=0 -run='Crashes|Stalls|Lag' ./pkg/testkit/crashtest ./services/...

## Code

.PHONY: generate
generate: bin/tools ## regenerate the code and the documents
	bin/tools/buf generate
	go test ./pkg/engine/workflow -run=Pages -update

.PHONY: screenshots
screenshots: ## make the pictures of docs/pictures from a run of the demonstration; needs Chromium
	scripts/screenshots

.PHONY: site
site: ## make a site of the documents, with a search, below bin/site; needs npm
	scripts/site/build

.PHONY: attack
attack: ## run the attacks that SECURITY.md names for each promise, all of them however often they held before
	scripts/attack

.PHONY: vulnerable
vulnerable: ## look for known vulnerabilities in what the programs call, if the list can be had
	scripts/vulnerable

.PHONY: images
images: ## build the container images; no registry is needed (VERSION=dev)
	scripts/images

.PHONY: chart
chart: ## have Helm check and render the chart with each file of values, and hold the objects to the API of Kubernetes (Helm takes minutes to build)
	cd scripts/chart && GOWORK=off go build $(LDFLAGS) -o ../../bin/chart/ . helm.sh/helm/v4/cmd/helm
	PATH="$(CURDIR)/bin/chart:$$PATH" go test -count=1 -v -run=HelmTakesTheChart ./deploy

.PHONY: containers-up
containers-up: ## start all services as containers, with a forge of their own unless .env names another
	scripts/containers-up

.PHONY: containers
containers: ## try the set of containers: ISSUES=3 issues under kills, cuts and restarts, then a backup restored (QUICK=1: one kill; CLUSTER=1: on three NATS servers)
	scripts/containers

.PHONY: faults
faults: ## break the set of containers in each way of docs/faults.md, see what names it within a minute, and write the table there
	SIGNALBOX_FAULTS=../docs/faults.md go test -count=1 -timeout=1h -v -run=EachFaultIsNamed ./deploy

.PHONY: upgrade
upgrade: ## replace the services of earlier commits by these, forward and back, under work, and write the table of docs/upgrade.md
	WAY=forward scripts/upgrade 1a9db9b
	scripts/upgrade 773753af

.PHONY: release
release: ## make the files of a release below dist/ (PLATFORMS="linux/amd64 …"), and print the tag to push
	scripts/release

.PHONY: release-check
release-check: ## make the files of a release for this machine twice, compare them, and run its programs
	SIGNALBOX_RELEASE=1 go test -count=1 -timeout=30m -v -run=Reproducible ./deploy

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME each (10s); what is found is kept in testdata/fuzz
	FUZZTIME=$(or $(FUZZTIME),10s) scripts/fuzz

.PHONY: secret-rules
secret-rules: ## take the rules for secrets from the gitleaks that scripts/secretrules/go.mod names
	cd scripts/secretrules && GOWORK=off go run . > ../../pkg/base/secret/rules.json

# The tests under the race detector wait more than they compute; staticcheck computes meanwhile. It comes
# after vet, or both would compile the same.
.PHONY: check
check: generated vet ## everything a change must pass besides `make test`
	@$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),-O) lint race proto-check archtest

.PHONY: generated
generated: bin/tools ## fail if `make generate` would change a file
	scripts/generated

.PHONY: vet
vet: ## go vet and gofmt
	go vet $(PACKAGES)
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not gofmt: $$unformatted"; exit 1; }

.PHONY: lint
lint: bin/tools ## staticcheck, and actionlint on the workflow for GitHub Actions
	bin/tools/staticcheck $(PACKAGES)
	bin/tools/actionlint deploy/github-actions/*.yml

.PHONY: proto-check
proto-check: bin/tools ## buf lint, and no break with what was there (BASE=ref to choose what)
	bin/tools/buf lint
	scripts/breaking $(BASE)

.PHONY: archtest
archtest: ## the import and style rules
	$(TEST) ./pkg/testkit/archtest/...

# buf, the generators of protobuf code, staticcheck and actionlint, at the versions scripts/tools/go.mod pins.
# buf takes two minutes the first time.
bin/tools: scripts/tools/go.mod scripts/tools/go.sum
	cd scripts/tools && GOWORK=off go build $(LDFLAGS) -o ../../bin/tools/ tool
	@touch bin/tools

.PHONY: clean
clean: ## remove what was built
	rm -rf bin coverage.out

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} \
		/^## / {printf "\n%s\n", substr($$0, 4)} \
		/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
