# GroupLab. Bare `make` lists what there is to do.
GO      ?= go
DIST    := static/dist
GOROOT  := $(shell $(GO) env GOROOT)
WASM_GO := $(shell find wasm static/view lessons coordinator -name '*.go' -not -name '*_test.go')
BROTLI  ?= 10
TIME    ?= 30s
TARGET  ?=
PART    ?=
# What runs seldom in the tab is not inlined: its code is not copied to where it is called, 7 % of the download.
COLD    := grouplab/static/view grouplab/coordinator/sim/script grouplab/coordinator/txn grouplab/lessons grouplab/wasm/... \
           encoding/... regexp/... text/... html/... net/... crypto/... github.com/... time os fmt reflect
SEED    ?=
STEPS   ?= 100000
SCRIPT  ?=
SHRINK  ?= 5m
HISTORY ?=
CLIENTS ?=
HTTP    ?= 127.0.0.1:8080
KAFKA   ?= 127.0.0.1:9092
RUNARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run build profile generate setup test test-go test-wasm test-lessons interop check bench sim mutants lessons lesson rewrite fuzz site clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

run: build ## build all, serve the lab and a three-broker cluster, print both addresses (HTTP=127.0.0.1:8080 KAFKA=127.0.0.1:9092)
	@$(DIST)/grouplab -http $(HTTP) -kafka $(KAFKA) -brokers 3 -topics orders=6 $(RUNARGS)

build: $(DIST)/lab.wasm.br $(DIST)/live.wasm.br ## build the tab and the server
	@echo "building the server"
	@$(GO) build -o $(DIST)/.grouplab ./server && mv $(DIST)/.grouplab $(DIST)/grouplab

# lab.wasm holds the machine, for lessons and the sandbox; live.wasm shows what others have seen.
$(DIST)/lab.wasm: PROGRAM = ./wasm
$(DIST)/live.wasm: PROGRAM = ./wasm/live
$(DIST)/lab.wasm $(DIST)/live.wasm: $(WASM_GO) go.mod go.sum $(DIST)/overlay.json static/pack/slim.go static/pack/lines.go
	@echo "building $(@F) (the first time takes a minute or two)"
	@GOOS=js GOARCH=wasm $(GO) build -overlay $(DIST)/overlay.json -trimpath -ldflags='-s -w' $(COLD:%=-gcflags=%=-l) -o $@ $(PROGRAM)
	@$(GO) run ./static/pack -slim $@

$(DIST)/%.wasm.br: $(DIST)/%.wasm
	@echo "compressing $(<F)"
	@cp "$(GOROOT)/lib/wasm/wasm_exec.js" $(DIST)/wasm_exec.js
	@$(GO) run ./static/source $(DIST)/lines.json
	@$(GO) run ./static/pack -quality $(BROTLI) $<

# The tab is built without packages that its libraries name and it never calls, each of these folders replaces one, and
# without checks of errors that templ's code never has.
$(DIST)/overlay.json: wasm/nohttp/http.go wasm/noregexp/regexp.go wasm/notemplate/template.go wasm/nosha256/sha256.go go.mod \
		$(wildcard static/view/*_templ.go) static/pack/lean.go
	@for stub in $(filter wasm/%.go,$^); do case $$stub in */http.go) of=net/http;; */template.go) of=html/template;; */sha256.go) of=crypto/sha256;; *) of=regexp;; esac; \
	GOOS=js GOARCH=wasm $(GO) list -f '{{$$d := .Dir}}{{range .GoFiles}}{{$$d}}/{{.}} $(CURDIR)/'$$stub'{{"\n"}}{{end}}' $$of; done | \
	awk 'BEGIN { printf "{\"Replace\":{" } \
	NF { n = split($$1, part, "/"); m = split($$2, with, "/"); \
	printf "%s\"%s\":\"%s\"", (count++ ? ",\n" : "\n"), $$1, (part[n] == with[m] ? $$2 : "") } \
	END { print "\n}}" }' >$@
	@$(GO) run ./static/pack -lean $@ static/view/*_templ.go

profile: ## measure where the server spends its time under load: its build inlines by that (server/default.pgo)
	@bash .ci/profile

generate: ## write the Go code of the templ components
	@$(GO) tool templ generate -path static/view

setup: ## find or install what the tests talk to: Chromium and kcat
	@bash .ci/setup

test: setup build test-go test-wasm ## set up what is missing, then run every test

# The profile is for the server that is built: tests do without, or what they share would be compiled twice.
test-go:
	@echo "tests, native"
	@GOFLAGS="$$GOFLAGS -pgo=off" $(GO) test -timeout 9m ./...

test-wasm:
	@echo "golden transcripts and the fold, in WASM"
	@GOOS=js GOARCH=wasm $(GO) test -timeout 5m -overlay $(DIST)/overlay-lean.json -exec="$(GOROOT)/lib/wasm/go_js_wasm_exec" ./coordinator ./static/view ./lessons

test-lessons: setup build ## play every lesson in a real browser, with the keyboard alone
	@LESSONS=all GOFLAGS="$$GOFLAGS -pgo=off" $(GO) test -timeout 30m -count=1 -run 'Lesson|PagesAreAccessible' -v ./server/e2e

interop: ## put the same questions to a real Apache Kafka and to our brokers (KAFKA=4.0.2), then run real clients; or some: CLIENTS=kcat,sarama
	@CLIENTS='$(CLIENTS)' bash .ci/interop

check: ## generated code fresh, vet and staticcheck on both targets, arrows, size budget
	@bash .ci/check

bench: build ## print the budgets' figures and a table of them: make bench, or one PART of it, PART=machine
	@bash .ci/bench $(PART)

sim: ## ten seeded campaigns of STEPS moments each, or one: make sim SEED=7 STEPS=1000000; one script through all its checks: make sim SCRIPT=FILE
	@SCRIPT='$(if $(SCRIPT),$(abspath $(SCRIPT)))' SEED=$(SEED) STEPS=$(STEPS) SHRINK=$(SHRINK) HISTORY='$(if $(HISTORY),$(abspath $(HISTORY)))' \
	$(GO) test -timeout 0 -count=1 -run '$(if $(SCRIPT),^TestScript$$,Campaign)' -v ./coordinator/sim

mutants: ## break one rule at a time; each must be noticed by a named test: make mutants, make mutants ONLY=id
	@$(GO) test ./.ci/mutants
	@$(GO) run ./.ci/mutants -only '$(ONLY)'

lessons: ## prove each lesson, with its texts; what fails is printed as FILE:LINE:COL
	@$(GO) test -count=1 ./lessons/... && echo "every lesson stands"

lesson: ## start a lesson's folder: make lesson NAME=22-my-lesson
	@case "$(NAME)" in [0-9][0-9]-[a-z]*) ;; *) echo "a lesson's name has two digits and small letters: make lesson NAME=22-my-lesson" >&2; exit 1;; esac
	@test ! -e lessons/content/$(NAME) || { echo "lessons/content/$(NAME) is there already" >&2; exit 1; }
	@cp -r lessons/template lessons/content/$(NAME) && echo "lessons/content/$(NAME) is a draft: change it, run make lessons, take out the line draft"

rewrite: ## record golden files anew; read the diff before committing
	@$(GO) test ./coordinator -run Golden -rewrite
	@$(GO) test ./static/view -rewrite

fuzz: ## fuzz everything that reads bytes or text, each target for TIME, of those that match TARGET: make fuzz TIME=1m TARGET=Load
	@bash .ci/fuzz $(TIME) $(TARGET)

site: build ## write the static site into static/site
	@$(GO) run ./static/pack -quality 11 $(DIST)/lab.wasm $(DIST)/live.wasm
	@$(GO) run ./server site static/site

clean: ## remove what was built
	@find $(DIST) -mindepth 1 -not -name README -delete; rm -rf static/site
