package eval

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// maxBody is how much is taken of an issue's text, in bytes.
const maxBody = 64 << 10

// issues finds what was reported on a forge for a change.
type issues struct {
	forge interface {
		Issue(ctx context.Context, repo string, number int) (forge.Issue, error)
		PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error)
	}
	repo string // owner/name
}

var (
	closes = lazyregexp.New(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:([\w.-]+/[\w.-]+)?#|GH-|https?://[^\s/]+/([\w.-]+/[\w.-]+)/issues/)([1-9]\d{0,8})\b`)
	pulled = lazyregexp.New(`^Merge pull request #([1-9]\d{0,8})\b|\((?:#|GH-)([1-9]\d{0,8})\)\s*$`)
)

// replace gives a case the text of the issue that its commit's message closes, or that the
// pull request closes which the message names. Without one the case stays as it is.
func (s issues) replace(ctx context.Context, c *Case, message string) error {
	numbers := s.closed(message)
	if len(numbers) == 0 {
		pull := pullNumber(message)
		if pull == 0 {
			return nil
		}
		pr, err := s.forge.PullRequest(ctx, s.repo, pull)
		if errors.Is(err, forge.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pull request %s#%d: %w", s.repo, pull, err)
		}
		numbers = s.closed(pr.Title + "\n" + pr.Body)
	}
	for _, number := range numbers {
		issue, err := s.forge.Issue(ctx, s.repo, number)
		if errors.Is(err, forge.ErrNotFound) {
			continue // a pull request, or it was deleted or transferred
		}
		if err != nil {
			return fmt.Errorf("issue %s#%d: %w", s.repo, number, err)
		}
		if strings.TrimSpace(issue.Title) == "" {
			continue
		}
		body := strings.TrimSpace(strings.ReplaceAll(issue.Body, "\r\n", "\n"))
		c.Title, c.Body, c.Issue = strings.TrimSpace(issue.Title), strings.ToValidUTF8(body[:min(len(body), maxBody)], ""), number
		return nil
	}
	return nil
}

// closed returns the numbers of the repository's issues that a text closes.
func (s issues) closed(text string) (numbers []int) {
	for _, m := range closes.FindAllStringSubmatch(text, -1) {
		if other := m[1] + m[2]; other == "" || strings.EqualFold(other, s.repo) {
			n, _ := strconv.Atoi(m[3])
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// pullNumber returns the number of the pull request that a commit's message is of; 0: none.
func pullNumber(message string) int {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	m := pulled.FindStringSubmatch(strings.TrimSpace(first))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1] + m[2])
	return n
}

// retell gives a case the text of its issue, if there is one.
func (m miner) retell(ctx context.Context, s issues, c *Case) error {
	message, err := m.git.Run(ctx, "show", "--no-patch", "--format=%B", c.Commit)
	if err != nil {
		return err
	}
	return s.replace(ctx, c, message)
}
