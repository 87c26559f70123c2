package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// post makes the comment unless it is there. If its text may not leave, post says so
// in its place: people have to know that there is something.
func (h *handler) post(ctx context.Context, name string, issue instance.Issue, key, body string) (forge.Comment, error) {
	on := struct {
		forge.Reader
		forge.Writer
	}{h.reader, h.writer}
	c, err := forge.Post(ctx, on, issue.Repo, issue.Number, rules.Marker(name, key), body)
	if no := new(outbound.Refusal); errors.As(err, &no) {
		return forge.Post(ctx, on, issue.Repo, issue.Number, rules.Marker(name, key), rules.Withheld(name, no.Strings()))
	}
	return c, err
}

// questionKey begins the key of a comment that has questions.
const questionKey = "questions-"

// ask posts the open questions. If a comment of ours has them all already, ask edits it
// in place of posting: people are asked once. before means that the comment asked for just
// these: since then nothing was answered, and nothing more is asked.
func (h *handler) ask(ctx context.Context, name string, issue instance.Issue, attempt int, open []instance.Question,
	body string) (c forge.Comment, before bool, err error) {
	self, err := h.reader.Self(ctx)
	if err != nil {
		return forge.Comment{}, false, err
	}
	all, err := h.reader.Comments(ctx, issue.Repo, issue.Number, time.Time{})
	if err != nil {
		return forge.Comment{}, false, err
	}
	for _, c := range slices.Backward(all) {
		id, key, ok := rules.FindMarker(c.Body)
		if !ok || c.Author.Login != self || id != name || !strings.HasPrefix(key, questionKey) || !asks(c.Body, open) {
			continue
		}
		// One of this very attempt is found again after a crash: it was not asked before.
		before := key != fmt.Sprintf("%s%d", questionKey, attempt) && len(questionLine.FindAllString(c.Body, -1)) == len(open)
		text := body + "\n\n" + rules.Marker(name, key)
		if strings.TrimSpace(c.Body) == strings.TrimSpace(text) {
			return c, before, nil
		}
		edited, err := h.writer.EditComment(ctx, issue.Repo, c.ID, text)
		if no := new(outbound.Refusal); errors.As(err, &no) {
			return c, before, nil // it stays as it is, and was sent as it is
		}
		return edited, before, err
	}
	c, err = h.post(ctx, name, issue, fmt.Sprintf("%s%d", questionKey, attempt), body)
	return c, false, err
}

// questionLine is how a comment of ours begins a question.
var questionLine = lazyregexp.New(`(?m)^\*\*Q\d+\.`)

// asks reports whether a comment has all the questions.
func asks(body string, open []instance.Question) bool {
	return !slices.ContainsFunc(open, func(q instance.Question) bool { return !strings.Contains(body, fmt.Sprintf("**Q%d.", q.Number)) })
}
