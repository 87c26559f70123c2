// Package eval measures which brain solves more of a repository's own issues, and for
// what. Merged changes are the cases: a change's tests fail before it and pass with it.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Case is one merged change as a task. An agent gets the code of Base and the text, and
// never the tests.
type Case struct {
	ID      string   `json:"id"` // the first digits of Commit
	Title   string   `json:"title"`
	Body    string   `json:"body"`
	Issue   int      `json:"issue,omitempty"`   // on the forge, which the text is of; 0: it is the change's message
	Base    string   `json:"base"`              // the commit before the change
	Commit  string   `json:"commit"`            // the change
	Tests   []string `json:"tests"`             // files of the change that are tests, or that tests read
	Command string   `json:"command"`           // that runs the tests
	Failing []string `json:"failing,omitempty"` // tests that fail on Base with Tests, and pass on Commit; none: they are not distinguished
	Millis  int64    `json:"millis"`            // of one run of the tests
}

const (
	casesFile = "cases.jsonl"
	casesRepo = "repo.git" // next to the cases, with all commits that they name
)

// readCases reads the cases of a file, one JSON object a line, and returns the path of
// the repository next to it.
func readCases(file string) (cases []Case, repo string, err error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, casesFile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c Case
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.DisallowUnknownFields()
		if err = dec.Decode(&c); err == nil {
			err = c.check()
		}
		if err == nil && seen[c.ID] {
			err = fmt.Errorf("case %s is there twice", c.ID)
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s:%d: %w", file, n, err)
		}
		seen[c.ID] = true
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, "", fmt.Errorf("%s has no cases", file)
	}
	repo = filepath.Join(filepath.Dir(file), casesRepo)
	if _, err := os.Stat(repo); err != nil {
		return nil, "", fmt.Errorf("the repository of the cases has to lie next to %s: %w", filepath.Base(file), err)
	}
	return cases, repo, nil
}

var (
	commitID = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	caseID   = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z._-]*$`)
)

func (c Case) check() error {
	switch {
	case !caseID.MatchString(c.ID):
		return fmt.Errorf("id %q: want letters, digits, dots and dashes", c.ID)
	case strings.TrimSpace(c.Title) == "":
		return errors.New("a case needs a title")
	case !commitID.MatchString(c.Base), !commitID.MatchString(c.Commit):
		return errors.New("base and commit have to be full ids of commits")
	case len(c.Tests) == 0:
		return errors.New("a case needs tests")
	}
	for _, name := range c.Tests {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("test %q is not a path in the repository", name)
		}
	}
	return nil
}

// encode returns the case as a line.
func (c Case) encode() []byte {
	line, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return append(line, '\n')
}

// report returns the text that agents get, as `resolve --issue` reads it.
func (c Case) report() string { return "# " + c.Title + "\n\n" + c.Body + "\n" }
