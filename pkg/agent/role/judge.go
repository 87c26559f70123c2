package role

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// judge returns the outcome with the questions that it leaves to people, and its result. failed is
// the error of the brain: the result of one that failed keeps what it printed.
func (s step) judge(ctx context.Context, out brain.Outcome, failed error) (brain.Outcome, instance.Result, error) {
	if failed == nil {
		out = s.waits(ctx, out)
		out, failed = s.idle(ctx, out)
	}
	r := s.judgement(ctx, out)
	for _, text := range []struct {
		kind string
		text []byte
	}{{"prompt", out.Asked}, {"log", out.Output}} {
		if len(text.text) == 0 {
			continue
		}
		artifact, err := s.keep(ctx, text.kind, text.text)
		if err != nil {
			return out, r, err
		}
		r.Artifacts = append(r.Artifacts, artifact)
	}
	return out, r, failed
}

// judgement is a brain's result without the statements that no brain, or not
// this role, may make. A refused one is reported by its name.
func (s step) judgement(ctx context.Context, out brain.Outcome) instance.Result {
	r := out.Result
	r.Summary = printable(r.Summary)
	r.Base, r.Head, r.Bundle, r.Evidence, r.Artifacts, r.Unjudged = "", "", "", nil, nil, false
	refused := out.Refused
	r.Sections = maps.Clone(r.Sections)
	for _, name := range slices.Sorted(maps.Keys(r.Sections)) {
		if !slices.Contains(s.job.Writes, name) {
			delete(r.Sections, name)
			refused = append(slices.Clone(refused), fmt.Sprintf("section %s is not the %s's to write; it stays as it was", name, s.job.Role))
		}
	}
	for _, what := range refused {
		s.job.Progress("refused: %s", what)
	}
	r.IssuesFound = append(slices.Clone(r.IssuesFound), refused...)
	if s.asks.WritesCode() && r.Data != nil {
		// Rules read variables: who writes the code is judged by the code alone.
		s.job.Progress("dropped: data %s; the writer of the code sets no variables", strings.Join(slices.Sorted(maps.Keys(r.Data)), ", "))
		r.Data = nil
	}
	for _, n := range out.Notes {
		if err := s.job.Note(ctx, n.Kind, printable(n.Text)); err != nil {
			s.job.Progress("a note is lost: %v", err)
		}
	}
	return r
}

// keep stores a brain's output as an artifact, without credentials.
func (s step) keep(ctx context.Context, kind string, output []byte) (instance.Artifact, error) {
	if s.Secrets != nil {
		output = []byte(s.Secrets.Redact(string(output)))
	}
	return s.put(ctx, kind, output)
}

// put stores an artifact as it is.
func (s step) put(ctx context.Context, kind string, output []byte) (instance.Artifact, error) {
	sum := sha256.Sum256(output)
	digest := hex.EncodeToString(sum[:])
	a := instance.Artifact{Name: s.job.State + "." + kind, Object: "artifact/" + digest, Size: int64(len(output)), SHA256: digest}
	return a, s.Objects.Put(ctx, a.Object, bytes.NewReader(output))
}

// asksPeople begins the comment with questions that the work waits for.
const asksPeople = "asks before it goes on: "

// asked are the questions of a result, with the answers that each permits.
func asked(r instance.Result) string {
	texts := slices.Clone(r.Questions)
	for i, q := range texts {
		if permitted := r.Forms[q].Permitted(); permitted != nil {
			texts[i] += " (" + strings.Join(permitted, ", ") + ")"
		}
	}
	return strings.Join(texts, "\n")
}

// waits has the work wait for the answers to questions that a successful result has. An analysis whose lifecycle has a threshold is unsure by it: it is blocked. A role
// that leaves code or tests holds the state, so that they are kept. Where others are judged,
// and where it was asked before, nobody waits: the questions are noted.
func (s step) waits(ctx context.Context, out brain.Outcome) brain.Outcome {
	r := &out.Result
	if len(r.Questions) == 0 || r.Status != instance.Success || out.Pauses() || s.free {
		return out
	}
	threshold, analyses := s.job.Policy["confidence_threshold"].(float64)
	writes := s.asks.WritesCode() || s.asks.Does == workflow.WriteTests
	reason := s.job.Role + " " + asksPeople + asked(*r)
	switch {
	case s.job.Question != nil || s.asks.Tests() || s.answered(reason):
		for _, q := range r.Questions {
			if err := s.job.Note(ctx, "question", printable(q)); err != nil {
				s.job.Progress("a question is lost: %v", err)
			}
		}
		r.Questions = nil
	case writes:
		out.Escalate = &brain.Escalation{Reason: reason, RequiresHuman: true}
		r.Questions = nil
	case analyses && r.ConfidenceScore >= threshold:
		r.Status = instance.Blocked
		r.IssuesFound = append(slices.Clip(r.IssuesFound), fmt.Sprintf("%d questions are open, so it is not done", len(r.Questions)))
	}
	return out
}

// nothingToChange begins the question to people about work that a brain finds to be done
// already.
const nothingToChange = "there may be nothing to change: "

// idle puts it to people, once, that a brain states for the second time in a row that it is
// done and has changed nothing of the base.
func (s step) idle(ctx context.Context, out brain.Outcome) (brain.Outcome, error) {
	last := s.job.Last
	if !out.Declared || out.Result.Status != instance.Success || out.Pauses() || s.tree == nil || s.tree.Head != s.tree.Base || s.job.Question != nil ||
		s.asks.Change != workflow.ChangeRequired || last == nil || last.Status != instance.Failure || !strings.Contains(last.Summary, leftNoChange) ||
		s.toldOf(nothingToChange) {
		return out, nil
	}
	if changed, err := s.changed(ctx); changed || err != nil {
		return out, err
	}
	out.Escalate = &brain.Escalation{RequiresHuman: true, Reason: fmt.Sprintf("%sthe %s states twice that it is done, and changed nothing. Its words: %s\n\n"+
		"Cancel the work if that is right, or say what is wrong with the code as it is.", nothingToChange, s.job.Role, oneLine(out.Result.Summary))}
	return out, nil
}

// printable is a program's text without what a terminal would obey: it goes into
// commits and comments.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// oneLine is a text as one line of at most 200 characters.
func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(printable(text)), " "))
	if len(line) > 200 {
		return string(line[:200]) + "…"
	}
	return string(line)
}
