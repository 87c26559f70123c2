package resolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// commented is the signal that the gateway sends for a comment.
const commented = "commented"

// awaits reports whether the state waits for a comment.
func (r *run) awaits(state string) bool {
	s, ok := r.def.State(state)
	return ok && s.Kind == workflow.Wait && len(s.On[commented]) > 0
}

// held returns the escalation that people have to resolve, nil if there is none.
func held(in *pb.Instance) *pb.Escalation {
	for _, e := range in.GetEscalations() {
		if e.GetRequiresHuman() && !e.GetResolved() {
			return e
		}
	}
	return nil
}

// answer comments on the issue with the answers of the file, the first time, and then
// with those that a person types. It reports whether there were any.
func (r *run) answer(ctx context.Context) (bool, error) {
	if r.answers != nil {
		if err := r.numbered(ctx); err != nil {
			return false, err
		}
		_, err := r.forge.Comment(ctx, r.source.name, r.number, string(r.answers))
		r.answers = nil
		return true, err
	}
	if !r.env.Person {
		return false, nil
	}
	in, err := r.client.Get(ctx, r.id())
	if err != nil {
		return false, err
	}
	var body strings.Builder
	ask := func(question, mark string) error {
		fmt.Fprintf(r.env.Stderr, "\n%s\n> ", question)
		text, err := r.env.ReadLine(ctx)
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&body, "%s%s\n\n", mark, text)
		}
		return err
	}
	open := openQuestions(in)
	for _, q := range open {
		mark := fmt.Sprintf("Q%d: ", q.GetNumber())
		if err := ask(mark+plain(q.GetText()), mark); err != nil {
			return false, err
		}
	}
	if len(open) == 0 {
		if err := ask(obstacle(in)+"\nWhat should happen?", ""); err != nil {
			return false, err
		}
	}
	if body.Len() == 0 {
		return false, nil
	}
	_, err = r.forge.Comment(ctx, r.source.name, r.number, body.String())
	return true, err
}

// number matches the beginning of an answer that names its question.
var number = lazyregexp.New(`(?mi)^[\s>*_-]*q?(?:uestion)?\s*\d+\s*[:.)]`)

// numbered prints a hint where --answers names none of several questions: rules then take it as the answer to
// none of them, and only a brain may understand it.
func (r *run) numbered(ctx context.Context) error {
	in, err := r.client.Get(ctx, r.id())
	if err != nil {
		return err
	}
	if open := openQuestions(in); len(open) > 1 && !number.Match(r.answers) {
		r.n.Say("--answers names none of the %d questions, so it may answer none. A line for each is sure: Q%d: …", len(open), open[0].GetNumber())
	}
	return nil
}

// obstacle returns in a few lines what the instance waits for.
func obstacle(in *pb.Instance) string {
	why := in.GetReason()
	if e := held(in); e != nil {
		why = e.GetAgent() + ": " + e.GetReason()
	}
	if said := strings.TrimSpace(in.GetLastResult().GetSummary()); said != "" && (held(in) == nil || in.GetLastState() == in.GetState()) {
		why += "\n" + said
	}
	return plain(why)
}

// emphasis matches Markdown's bold text. In 1024**2 no text is bold.
var emphasis = lazyregexp.New(`(^|[^\pL\pN*])\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*([^\pL\pN*]|$)`)

// plain returns a text without Markdown emphasis, as it may be printed.
func plain(text string) string { return term.Text(emphasis.ReplaceAllString(text, "$1$2$3")) }

// openQuestions returns the unanswered questions to people.
func openQuestions(in *pb.Instance) []*pb.Question {
	var open []*pb.Question
	for _, q := range in.GetQuestions() {
		if !q.GetAnswered() && q.GetTo() == "" {
			open = append(open, q)
		}
	}
	return open
}
