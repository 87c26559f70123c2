// Package report reads an issue from a Markdown file: its first heading is the
// title, the rest the body, and YAML front matter may say more.
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

	"github.com/signalbox/signalbox/pkg/instance"
)

// Errors a caller branches on. They come wrapped, with advice.
var (
	ErrEmpty   = errors.New("the report is empty")
	ErrNoTitle = errors.New("the report has no title")
)

const (
	// MaxSize is the most a report may have, in bytes: it is an event in the log.
	MaxSize = 256 << 10
	// MaxTitle is the longest title, in characters: GitHub's.
	MaxTitle = 256
)

// Parse reads a report. The title is the front matter's, or else the first
// heading, which then is not part of the body, or else the first line.
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
		if issue.Title, lines = title(lines); issue.Title == "" {
			return issue, fmt.Errorf("%w: start it with a heading, as in \"# What is wrong\", or with front matter that has a title", ErrNoTitle)
		}
	}
	if n := utf8.RuneCountInString(issue.Title); n > MaxTitle {
		return issue, fmt.Errorf("the title has %d characters, want at most %d: put a short heading above it, as in \"# What is wrong\"", n, MaxTitle)
	}
	issue.Body = strings.TrimRight(strings.Trim(strings.Join(lines, "\n"), "\n"), " \t\n")
	return issue, nil
}
