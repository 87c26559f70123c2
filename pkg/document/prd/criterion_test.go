package prd_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/document/prd"
)

func TestTheCommandOfACriterionIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"go test ./...":                           "go test ./...",
		"go test ./... passes":                    "go test ./...",
		"`go test ./...` passes.":                 "go test ./...",
		"Run `./check --all`.":                    "./check --all",
		"$ ./check --all":                         "./check --all",
		"Run: anything | at all":                  "anything | at all",
		"npm run test -- auth_tests from src/app": "cd src/app && npm run test -- auth_tests",
		"`npm test` from src/app":                 "cd src/app && npm test",
		"npm test from ../elsewhere":              "npm test from ../elsewhere",
		"make test":                               "make test",
		"make -C lib check V=1":                   "make -C lib check V=1",
		"pytest":                                  "pytest",
		"pytest tests/test_login.py -q":           "pytest tests/test_login.py -q",
		"scripts/check.sh quick":                  "scripts/check.sh quick",
		"test -f README.md":                       "test -f README.md",

		"Make the button blue":              "",
		"make sure that it is blue":         "",
		"go to the page and log in":         "",
		"test that the page loads":          "",
		"python bindings are there":         "",
		"bundle size is below 5 kB":         "",
		"npm package is published":          "",
		"`Greet()` returns hello":           "",
		"Typecheck passes":                  "",
		"The command `go test` is in CI":    "",
		"First `go build`, then `go vet`":   "",
		"go test ./...\nand something else": "",
		"":                                  "",
	} {
		t.Run(text, func(t *testing.T) {
			src, err := json.Marshal(map[string]any{"id": "A", "acceptanceCriteria": []any{text}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := prd.ParseStory(string(src))
			if err != nil || len(s.Criteria) != 1 || s.Criteria[0].Text != text || s.Criteria[0].Command != want {
				t.Errorf("got %+v, %v; want the command %q", s.Criteria, err, want)
			}
		})
	}
}

func TestACriterionMaySayItsCommand(t *testing.T) {
	s, err := prd.ParseStory(`{"id": "A", "acceptanceCriteria": [
		{"command": "anything at all"}, {"description": "It is blue", "command": "blue"}, {"text": "It is nice"}, "make test", "make test"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"anything at all", "blue", "make test"}; !slices.Equal(s.Commands(), want) {
		t.Errorf("commands are %q, want %q", s.Commands(), want)
	}
	if s.Criteria[1].Text != "It is blue" || s.Criteria[0].Text != "anything at all" {
		t.Errorf("criteria are %+v", s.Criteria)
	}
}
