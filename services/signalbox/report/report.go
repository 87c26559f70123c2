// Package report parses an issue from a Markdown file. Its first heading is the title
// and the rest the body. YAML front matter may have more fields, also
// those of GitHub's issue templates.
//
//	---
//	labels: [bug]
//	author: ann
//	---
//	# The last page is missing
//
//	With 25 widgets, ten a page, …
package report

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Errors that a caller branches on. They are wrapped with advice.
var (
	ErrEmpty   = errors.New("the report is empty")
	ErrNoTitle = errors.New("the report has no title")
)

const (
	// MaxSize is the largest size of a report in bytes. The log has at most MaxBody of it.
	MaxSize = 4 << 20
	// MaxTitle is the longest title in characters, as on GitHub.
	MaxTitle = 256
)

// Parse parses a report. The title is that of the front matter, else the first
// heading, which is removed from the body, else the first line.
func Parse(src []byte) (instance.Issue, error) {
	var issue instance.Issue
	if len(src) > MaxSize {
		return issue, fmt.Errorf("the report has %d bytes, want at most %d", len(src), MaxSize)
	}
	if !utf8.Valid(src) || bytes.IndexByte(src, 0) >= 0 {
		return issue, errors.New("the report is not UTF-8 text")
	}
	text := strings.TrimPrefix(string(src), "\ufeff")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")

	lines, err := frontMatter(lines, &issue)
	if err != nil {
		return issue, err
	}
	if strings.TrimSpace(strings.Join(lines, "")) == "" && issue.Title == "" {
		return issue, fmt.Errorf("%w: want Markdown that starts with a heading, as in \"# What is wrong\"", ErrEmpty)
	}
	if issue.Title == "" {
		found, rest := title(lines)
		if asks(found) { // a form has its questions as headings
			if said := answered(lines); said != "" {
				found, rest = said, lines
			}
		}
		if issue.Title, lines = found, rest; issue.Title == "" {
			return issue, fmt.Errorf("%w: start it with a heading, as in \"# What is wrong\", or with front matter that has a title", ErrNoTitle)
		}
	}
	if n := utf8.RuneCountInString(issue.Title); n > MaxTitle {
		return issue, fmt.Errorf("the title has %d characters, want at most %d: put a short heading above it, as in \"# What is wrong\"", n,
			MaxTitle)
	}
	issue.Body = strings.TrimRight(strings.Trim(strings.Join(lines, "\n"), "\n"), " \t\n")
	return issue, nil
}
