package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// order is the commands of one comment.
type order struct {
	*commander
	comment    forge.Comment
	permission string
	of         target
	asks       repoconfig.Commands // by the repository's configuration
}

// refuse refuses a command: what is wrong, and what would be right.
func refuse(format string, args ...any) error {
	return &command.Wrong{What: fmt.Sprintf(format, args...)}
}

// reason returns why a command was refused; no is false if it was not, and the error, if
// there is one, may pass.
func reason(err error) (why string, no bool) {
	if wrong := new(command.Wrong); errors.As(err, &wrong) {
		return wrong.What, true
	}
	if r := new(instance.Refusal); errors.As(err, &r) {
		why = "is refused: " + r.What
		if len(r.Allowed) > 0 {
			why += "; permitted: " + strings.Join(r.Allowed, ", ")
		}
		return why, true
	}
	return "", false
}

// maxReason is how much of the words after a command is a reason, in characters.
const maxReason = 300

// give carries out one command. The text is what it has to say, Markdown that is safe.
// The error is a *command.Wrong or an *instance.Refusal if it is refused.
func (o order) give(ctx context.Context, cmd command.Command) (text string, err error) {
	verb, err := o.grammar.Check(cmd)
	if verb.Name == "" {
		help := "`/" + o.grammar.Name + " help` lists the commands"
		return "", refuse("%s; %s", sanitize.MarkdownLine(err.Error()), help)
	}
	verb.Least = o.asks.Permission(verb.Name, verb.Least)
	if !o.may(verb) {
		return "", refuse("takes the permission %s on this repository, and you have %s", verb.Least, o.permission)
	}
	if err != nil {
		return "", err
	}
	if verb.Name == command.Help {
		return o.help(), nil
	}
	if o.of.in == nil {
		return "", refuse("%s", o.of.why)
	}
	why := "asked for by " + o.comment.Author.Login + " in a comment"
	if words := strings.Join(strings.Fields(cmd.Words), " "); words != "" {
		why = string([]rune(words)[:min(len([]rune(words)), maxReason)])
	}
	switch verb.Name {
	case command.Status:
		return o.status(ctx, false)
	case command.Explain:
		return o.status(ctx, true)
	case command.Plan:
		return o.plan(ctx)
	case command.Merge:
		return o.merge(ctx, cmd)
	case command.Rebase:
		return "", o.rebase(ctx, cmd)
	case command.Hold, command.Unhold:
		return "", o.holdMerge(ctx, verb.Name == command.Hold)
	case command.Answer:
		return "", o.answer(ctx, cmd)
	case command.Approve:
		return "", o.approve(ctx, cmd)
	case command.Budget:
		raise, err := instance.ParseRaise(cmd.Words)
		if err != nil {
			return "", refuse("%v", err)
		}
		return "", o.do(ctx, cmd, subject.Budget, &pb.Command{Action: &pb.Command_Budget{
			Budget: &pb.RaiseBudget{Usd: raise.USD, Tokens: uint64(raise.Tokens)}}})
	case command.Retry:
		return "", o.do(ctx, cmd, subject.Retry, &pb.Command{Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: why}}})
	case command.Pause:
		return "", o.do(ctx, cmd, subject.Pause, &pb.Command{Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: why}}})
	case command.Resume:
		return "", o.do(ctx, cmd, subject.Resume, &pb.Command{Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: why}}})
	case command.Cancel:
		return "", o.do(ctx, cmd, subject.Cancel, &pb.Command{Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: why}}})
	}
	return "", refuse("is not carried out here")
}

// may reports whether the person may give a command. The reporter may answer who is
// heard.
func (o order) may(v command.Verb) bool {
	return reaches(o.permission, v.Least) ||
		v.Name == command.Answer && o.issues.intake.Reporter && o.comment.Author.Login == o.of.in.GetIssue().GetAuthor()
}

// id returns the id of a command, so that it is carried out once.
func (o order) id(cmd command.Command) string {
	return fmt.Sprintf("command/%d/%s", o.comment.ID, cmd.Key())
}

// do sends a command with the person as its actor.
func (o order) do(ctx context.Context, cmd command.Command, name string, c *pb.Command) error {
	c.Id, c.Instance, c.Actor = o.id(cmd), o.of.id, o.comment.Author.Login
	_, err := o.client.Do(ctx, name, c)
	return err
}

// signal sends a signal with the person as its actor. It refuses one that moves nothing.
func (o order) signal(ctx context.Context, cmd command.Command, name, body string) error {
	reply, err := o.signalWith(ctx, cmd, name, map[string]string{"body": body})
	before, after := o.of.in, reply.GetInstance()
	if err != nil || reply.GetDuplicate() || after.GetState() != before.GetState() || after.GetIteration() != before.GetIteration() {
		return err
	}
	return refuse("is kept, but %s does not move by it; %s shows what would", before.GetState(), o.hint(command.Explain))
}

// signalWith sends a signal with data, in addition to its place and the person's permission.
func (o order) signalWith(ctx context.Context, cmd command.Command, name string, data map[string]string) (*pb.CommandReply, error) {
	data["url"], data["permission"] = o.comment.URL, o.permission
	return o.client.Signal(ctx, o.of.id, name, o.id(cmd), o.comment.Author.Login, data)
}

// hint returns a command as people write it.
func (o order) hint(verb string) string { return "`/" + o.grammar.Name + " " + verb + "`" }

// ofQuestion matches an answer that names its question.
var ofQuestion = lazyregexp.New(`(?is)^(?:q|question |#)?([0-9]{1,4})[:.)]\s*(.+)$|^q([0-9]{1,4})\s+(.+)$`)

// inQuestion returns the number of the question that an answer names, 0 for none, and the
// answer as it is read later.
func inQuestion(words string) (question int, body string) {
	m := ofQuestion.FindStringSubmatch(words)
	if m == nil {
		return 0, words
	}
	question, _ = strconv.Atoi(m[1] + m[3])
	return question, fmt.Sprintf("Q%d: %s", question, m[2]+m[4])
}

// together returns the commands with their answers as one, so that the first does not end
// the wait that the next is for. An answer to a question that is not open stays alone.
func (o order) together(all []command.Command) (out []command.Command) {
	first := -1
	for _, cmd := range all {
		question, body := inQuestion(cmd.Words)
		if cmd.Verb != command.Answer || question > 0 && !slices.Contains(change.OpenQuestions(o.of.in), question) {
			out = append(out, cmd)
			continue
		}
		if first < 0 {
			first = len(out)
			out = append(out, cmd)
			continue
		}
		_, before := inQuestion(out[first].Words)
		out[first].Words = before + "\n\n" + body
	}
	return out
}

// answer answers a question, or resolves what was put to people.
func (o order) answer(ctx context.Context, cmd command.Command) error {
	in := o.of.in
	question, body := inQuestion(cmd.Words)
	_, held := change.WaitingSince(in)
	open := change.OpenQuestions(in)
	asked := slices.Contains(open, question)
	given := slices.ContainsFunc(in.GetQuestions(), func(q *pb.Question) bool {
		return int(q.GetNumber()) == question && q.GetTo() == "" && q.GetAnswered()
	})
	switch {
	case in.GetClosed() != "":
		return refuse("finds nothing that waits for an answer: it is %s, in %s", in.GetClosed(), in.GetState())
	case held && !asked && !given:
		return o.do(ctx, cmd, subject.Resolve, &pb.Command{Action: &pb.Command_Resolve{Resolve: &pb.Resolve{Text: cmd.Words}}})
	case in.GetKind() != string(workflow.Wait):
		return refuse("finds nothing that waits for an answer: it is in %s, where %s works; an ordinary comment is kept for the next role",
			in.GetState(), in.GetOwner())
	case question > 0 && !asked && !given:
		var numbers []string
		for _, n := range open {
			numbers = append(numbers, fmt.Sprint(n))
		}
		return refuse("names question %d, which is not open; open: %s", question, cmp.Or(strings.Join(numbers, ", "), "none"))
	}
	if unfit := rules.Check(body, wire.ToQuestions(in.GetQuestions())); len(unfit) > 0 {
		return refuse("is not taken: %s", unfit[0])
	}
	return o.signal(ctx, cmd, "commented", body)
}

// approve says yes: by the signal approved where the lifecycle listens to it, else as the
// word that is awaited.
func (o order) approve(ctx context.Context, cmd command.Command) error {
	in := o.of.in
	def, err := o.definition(ctx)
	if err != nil {
		return err
	}
	state, _ := def.State(in.GetState())
	_, held := change.WaitingSince(in)
	resolves := false
	for _, r := range def.Resolves {
		resolves = resolves || r.Signal == "approved"
	}
	switch {
	case in.GetClosed() != "":
		return refuse("finds nothing that waits for it: it is %s, in %s", in.GetClosed(), in.GetState())
	case len(state.On["approved"]) > 0 || held && resolves:
		return o.signal(ctx, cmd, "approved", cmd.Words)
	case held:
		return o.do(ctx, cmd, subject.Resolve, &pb.Command{Action: &pb.Command_Resolve{Resolve: &pb.Resolve{
			Text: strings.TrimSpace("approved " + cmd.Words)}}})
	case in.GetKind() != string(workflow.Wait):
		return refuse("finds nothing that waits for it: it is in %s, where %s works", in.GetState(), in.GetOwner())
	}
	if open := change.OpenQuestions(in); len(open) > 0 {
		return refuse("is no answer, and question %d is open: %s", open[0], o.hint(fmt.Sprintf("%s Q%d: TEXT", command.Answer, open[0])))
	}
	return o.signal(ctx, cmd, "commented", strings.TrimSpace("/approve "+cmd.Words))
}

// holdMerge labels the pull request with the label that keeps it from being merged, or takes
// that off.
func (o order) holdMerge(ctx context.Context, on bool) error {
	def, err := o.definition(ctx)
	if err != nil {
		return err
	}
	label, _ := def.Policy["hold_label"].(string)
	switch {
	case o.of.in.GetClosed() != "":
		return refuse("changes nothing any more: it is %s, in %s", o.of.in.GetClosed(), o.of.in.GetState())
	case label == "":
		return refuse("is not of the lifecycle %s, which merges nothing; %s keeps the work from being given out", def.Name, o.hint(command.Pause))
	case o.of.pull == 0:
		return refuse("finds no pull request yet; %s keeps the work from being given out", o.hint(command.Pause))
	case on:
		return lastingRefusal(o.forge.AddLabels(ctx, o.repo, o.of.pull, []string{label}))
	}
	err = o.forge.RemoveLabel(ctx, o.repo, o.of.pull, label)
	if errors.Is(err, forge.ErrNotFound) { // it is not there
		return nil
	}
	return lastingRefusal(err)
}

// lastingRefusal makes a refusal of the forge one of the command.
func lastingRefusal(err error) error {
	if lasting(err) {
		return refuse("is refused by the forge: %v", err)
	}
	return err
}

func (o order) definition(ctx context.Context) (*workflow.Definition, error) {
	reply, err := o.client.Definition(ctx, o.of.in.GetDefinition())
	if err != nil {
		return nil, err
	}
	return workflow.Load(o.of.in.GetWorkflow(), reply.GetSource())
}

// help lists the commands, and who may give them.
func (o order) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "As the first words of a line, outside code and quotes. You have the permission %s.\n\n| command | | takes |\n|---|---|---|\n", o.permission)
	for _, v := range o.grammar.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimRight("/"+o.grammar.Name+" "+v.Name+" "+v.Takes, " "), v.Does, o.asks.Permission(v.Name, v.Least))
	}
	return b.String()
}
