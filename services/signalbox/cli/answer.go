package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type answerCommand struct {
	instanceArg
	Text     []string `arg:"" optional:"" name:"text" help:"The answer. Without it, and without --file, you are asked, or standard input is read."`
	File     string   `name:"file" short:"f" env:"-" placeholder:"FILE" help:"File with the answers, \"Q1: …\" for each question. - reads standard input."`
	Question int      `name:"question" short:"q" env:"-" placeholder:"N" help:"The question that is answered, where several are open."`
}

// Run answers the questions of an instance. An answer to no question resolves an open
// escalation.
func (c answerCommand) Run(ctx context.Context, env *term.Env) error {
	if len(c.Text) > 0 && c.File != "" {
		return service.Usagef("the answer is either TEXT or --file %s", c.File)
	}
	if c.Question < 0 {
		return service.Usagef("--question %d: questions count from 1", c.Question)
	}
	var before view.Instance
	err := c.callOne(ctx, env, &c.ID, func(ctx context.Context, s system) error {
		in, err := s.Get(ctx, c.ID)
		before = view.Of(in)
		return err
	})
	if err == nil {
		err = c.due(before)
	}
	if err != nil {
		return err
	}
	body, err := c.body(env, before.Open()) // may wait for a person to type
	if err != nil {
		return err
	}
	if unfit := rules.Check(body, before.Questions); len(unfit) > 0 {
		return fmt.Errorf("%s: nothing was sent: %s", c.ID, unfit[0])
	}
	if c.changes(before) {
		return c.change(ctx, env, body)
	}
	if held, ok := before.Held(); ok && c.Question == 0 {
		return c.resolve(ctx, env, held.Number, body)
	}
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		reply, err := s.Answer(ctx, c.ID, 0, body)
		if err != nil {
			return err
		}
		after := view.Of(reply.GetInstance())
		if after.State == before.State && after.Iteration == before.Iteration {
			return fmt.Errorf("%s: the answer is kept, but %s does not move by it; `signalbox explain %s` shows what would", c.ID, after.State, c.ID)
		}
		return printResult(env, after, "answered, now in "+after.State)
	})
}

// changes reports whether the question is answered already.
func (c answerCommand) changes(in view.Instance) bool {
	return slices.ContainsFunc(in.Questions, func(q instance.Question) bool { return q.Number == c.Question && q.Answered && q.To == "" })
}

// change changes the answer to a question. The orchestrator refuses it if an agent works with the answer.
func (c answerCommand) change(ctx context.Context, env *term.Env, body string) error {
	text := strings.TrimSpace(strings.TrimPrefix(body, fmt.Sprintf("Q%d:", c.Question)))
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		reply, err := s.AnswerQuestions(ctx, c.ID, &pb.Answer{Question: int32(c.Question), Text: text})
		if err != nil {
			return err
		}
		return printResult(env, view.Of(reply.GetInstance()), fmt.Sprintf("the answer to question %d is changed", c.Question))
	})
}

// resolve resolves an escalation.
func (c answerCommand) resolve(ctx context.Context, env *term.Env, escalation int, body string) error {
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		reply, err := s.Answer(ctx, c.ID, int32(escalation), body)
		if err != nil {
			return err
		}
		in := view.Of(reply.GetInstance())
		return printResult(env, in, "resolved, goes on in "+in.State)
	})
}

// due returns an error if the instance does not wait for this answer.
func (c answerCommand) due(in view.Instance) error {
	open := in.Open()
	_, held := in.Held()
	asked := slices.ContainsFunc(open, func(q instance.Question) bool { return q.Number == c.Question })
	switch {
	case in.Closed != "":
		how := map[instance.Closed]string{instance.Ended: "has ended", instance.Cancelled: "was cancelled"}[in.Closed]
		return fmt.Errorf("%s does not wait for an answer: it %s, in %s", c.ID, how, in.State)
	case held && c.Question == 0, c.changes(in):
		return nil
	case in.Kind != workflow.Wait:
		return fmt.Errorf("%s does not wait for an answer: it is in %s, where %s works; `signalbox note %s TEXT` keeps a remark for the next role",
			c.ID, in.State, in.Owner, c.ID)
	case c.Question > 0 && !asked:
		numbers := make([]string, len(open))
		for i, q := range open {
			numbers[i] = fmt.Sprint(q.Number)
		}
		openNumbers := strings.Join(append(numbers, "none")[:max(1, len(numbers))], ", ")
		return fmt.Errorf("%s: question %d is not open; open: %s", c.ID, c.Question, openNumbers)
	}
	return nil
}

// body returns the text of the answer.
func (c answerCommand) body(env *term.Env, open []instance.Question) (string, error) {
	text := strings.Join(c.Text, " ")
	switch {
	case text != "":
	case c.File != "" || !env.Person:
		file := c.File
		if file == "" {
			file = "-"
		}
		src, err := input(file, env.Stdin)
		if err != nil {
			return "", service.Usagef("--file: %w", err)
		}
		text = strings.TrimPrefix(string(src), "\ufeff")
	default:
		return c.interview(env, open)
	}
	if strings.TrimSpace(text) == "" {
		return "", service.Usagef("the answer is empty")
	}
	if c.Question > 0 {
		text = fmt.Sprintf("Q%d: %s", c.Question, text)
	}
	return text, nil
}

// interview asks a person each open question, or the chosen one.
func (c answerCommand) interview(env *term.Env, open []instance.Question) (string, error) {
	if len(open) == 0 {
		open = []instance.Question{{Text: "What is your answer?"}}
	}
	in := bufio.NewReader(env.Stdin)
	var answers []string
	for _, q := range open {
		if c.Question > 0 && q.Number != c.Question {
			continue
		}
		mark := ""
		if q.Number > 0 {
			mark = fmt.Sprintf("Q%d: ", q.Number)
		}
		fmt.Fprintf(env.Stderr, "%s%s\n", mark, term.Text(q.Text))
		for _, line := range view.FormLines(q) {
			fmt.Fprintf(env.Stderr, "   %s\n", term.Text(line))
		}
		line, err := read(env, in, q)
		if line != "" {
			answers = append(answers, mark+line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
	}
	if answers == nil {
		return "", errors.New("nothing was answered")
	}
	return strings.Join(answers, "\n\n"), nil
}

// read reads one line, again for as long as it is no answer to the question. An empty line is the default.
func read(env *term.Env, in *bufio.Reader, q instance.Question) (string, error) {
	for {
		fmt.Fprint(env.Stderr, "> ")
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line == "" {
			line = q.Default
		}
		_, _, unfit := q.Read(q.Text, line)
		if unfit == nil || line == "" || err != nil {
			return line, err
		}
		fmt.Fprintf(env.Stderr, "%s\n", term.Text(unfit.Error()))
	}
}
