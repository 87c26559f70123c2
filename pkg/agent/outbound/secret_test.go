package outbound_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// found reports whether there is a finding of a secret, and that none shows it.
func found(t *testing.T, what, text string, all []outbound.Finding) {
	t.Helper()
	if !slices.ContainsFunc(all, func(f outbound.Finding) bool { return f.Rule == "secret" }) {
		t.Errorf("%s: found %v", what, all)
	}
	for _, f := range all {
		for word := range strings.FieldsSeq(text) {
			if len(word) > 24 && strings.Contains(f.String(), word) {
				t.Errorf("%s: the finding shows it: %v", what, f)
			}
		}
	}
}

func TestEachKindOfSecretIsFoundWhereverItWouldLeave(t *testing.T) {
	c := newChecker(t)
	r := newRepository(t)
	kinds := secrettest.Corpus(t)
	if len(kinds) < 40 {
		t.Fatalf("there are %d kinds", len(kinds))
	}
	n := 0
	for kind, text := range kinds {
		n++
		r.sh(fmt.Sprintf("git checkout -q -B k%d main", n))
		file := filepath.Join(r.git.Dir(), fmt.Sprintf("f%d", n))
		if err := os.WriteFile(file, []byte("first\nx: "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.sh("git add -A; git commit -qm x; git rm -q f*; git commit -qm y") // also one that is gone again
		all, err := c.Commits(t.Context(), r.git, gittest.Run(t, r.git, "rev-parse", "HEAD"), r.base)
		if err != nil {
			t.Fatal(err)
		}
		found(t, kind+" in a file", text, all)
		if !slices.ContainsFunc(all, func(f outbound.Finding) bool { return f.Path == filepath.Base(file) && f.Line >= 2 }) {
			t.Errorf("%s in a file: it does not say where: %v", kind, all)
		}

		if !strings.Contains(text, "\x00") { // git ends a message there
			message := filepath.Join(t.TempDir(), "message")
			if err := os.WriteFile(message, []byte("Mend it\n\nWith "+text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r.sh("git reset -q --hard main; git commit -q --allow-empty --cleanup=verbatim -F " + message)
			all, err := c.Commits(t.Context(), r.git, gittest.Run(t, r.git, "rev-parse", "HEAD"), r.base)
			if err != nil {
				t.Fatal(err)
			}
			found(t, kind+" in a message", text, all)
		}

		for what, leaves := range map[string]outbound.Text{
			"comment": {What: "comment", Body: "See:\n\n" + text}, "code of a comment": {What: "comment", Body: "```\n" + text + "\n```"},
			"title": {What: "title", Body: text, Line: true}, "several in a line": {What: "comment", Body: "AKIAIOSFODNN7EXAMPLE, " + text + " and " + text},
		} {
			no := new(outbound.Refusal)
			if err := c.Text(leaves); !errors.As(err, &no) {
				t.Errorf("%s in a %s: %v", kind, what, err)
				continue
			}
			found(t, kind+" in a "+what, text, no.Findings)
		}
	}
}

func TestASecretInANameIsFound(t *testing.T) {
	r := newRepository(t)
	for what, script := range map[string]string{
		"file":      "echo x > $TOKEN; git add -A; git commit -qm x",
		"directory": "mkdir $TOKEN; echo x > $TOKEN/x; git add -A; git commit -qm x",
		"author":    "git commit -q --allow-empty -m x --author \"$TOKEN <a@example.test>\"",
		"link":      "ln -s $TOKEN l; git add -A; git commit -qm x",
	} {
		r.sh("git checkout -q -B w main; " + script)
		all, err := newChecker(t).Commits(t.Context(), r.git, gittest.Run(t, r.git, "rev-parse", "HEAD"), r.base)
		if err != nil {
			t.Fatal(err)
		}
		found(t, what, token, all)
	}
	if _, err := r.push("signalbox/"+token, ""); !slices.Contains(rules(err), "branch") || strings.Contains(err.Error(), token) {
		t.Errorf("branch: %v", err)
	}
}
