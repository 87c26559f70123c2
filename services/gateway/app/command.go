package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// Commands says by which word commands are given in comments, and by whom.
type Commands struct {
	Command string            `name:"command" default:"signalbox" placeholder:"WORD" help:"Name of commands in comments, after a slash: /signalbox status. Empty: there are none."`
	WhoMay  map[string]string `name:"who-may" mapsep:"," placeholder:"VERB=ROLE,…" help:"The permission on the repository that a command takes, where it is another than by default: anyone, read, triage, write, maintain or admin."`
}

// Grammar returns the grammar of the flags.
func (c Commands) Grammar() (command.Grammar, error) { return command.NewGrammar(c.Command, c.WhoMay) }

// commander carries out the commands that people give in comments. The PM posts the
// answers.
type commander struct {
	forge interface {
		forge.Reader
		forge.Discussion
		AddLabels(ctx context.Context, repo string, number int, labels []string) error
		RemoveLabel(ctx context.Context, repo string, number int, label string) error
		Behind(ctx context.Context, repo, base, head string) (int, error)
	}
	client  *client.Client
	cursors cursors
	repo    string
	grammar command.Grammar
	issues  *poller
	pulls   *pulls
	say     sayer
	given   *prometheus.CounterVec // nil: nothing is counted
	now     func() time.Time
	log     *slog.Logger

	turn sync.Mutex // held by a poll and by look
	// settled is the text of comments whose commands were carried out, as a digest, so that
	// they are not parsed again at each poll.
	settled map[int64][sha256.Size]byte
}

func (p *commander) about() (string, *slog.Logger) { return p.repo, p.log }

// poll carries out the commands in the comments that changed since the last time. One
// request lists the comments of the whole repository, and costs nothing while nothing
// changes. A command that fails for a reason that may pass is tried again; the others are
// carried out meanwhile.
func (p *commander) poll(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.ledger(ctx, p.repo)
	if err != nil {
		return err
	}
	l := at.copied()
	if l.From.IsZero() {
		l.From = p.now().Add(-overlap)
		l.Since = p.now()
	}
	since := l.Since.Add(-overlap)
	all, err := p.forge.Discussed(ctx, p.repo, since)
	if err != nil {
		return err
	}
	newest := l.Since
	for _, c := range all {
		if c.UpdatedAt.After(newest) {
			newest = c.UpdatedAt
		}
		err = errors.Join(err, p.consider(ctx, c, &l))
	}
	if err == nil {
		l.Since = newest
	}
	if l.forget(p.now()); l.sameAs(at) {
		return err
	}
	return errors.Join(err, p.cursors.saveLedger(ctx, p.repo, l))
}

// commandsOn carries out the commands in the comments on one issue or pull request now.
func (p *commander) commandsOn(ctx context.Context, number int, since time.Time) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	l, err := p.cursors.ledger(ctx, p.repo)
	if err != nil || l.From.IsZero() { // the first poll is under way
		return err
	}
	all, err := p.forge.Comments(ctx, p.repo, number, since)
	if errors.Is(err, forge.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	l = l.copied()
	for _, c := range all {
		err = errors.Join(err, p.consider(ctx, c, &l))
	}
	return err
}

// consider carries out the commands of one comment that were not carried out before.
func (p *commander) consider(ctx context.Context, c forge.Comment, l *ledger) error {
	if c.On == 0 || c.Author.Bot || c.CreatedAt.Before(l.From) || p.now().Sub(c.CreatedAt) > commandFor {
		return nil
	}
	if !p.grammar.Calls(c.Body) {
		return nil
	}
	digest := sha256.Sum256([]byte(c.Body))
	if p.settled[c.ID] == digest {
		return nil
	}
	if err := p.parse(ctx, c, l); err != nil {
		return err
	}
	if len(p.settled) >= maxSettled || p.settled == nil {
		p.settled = map[int64][sha256.Size]byte{}
	}
	p.settled[c.ID] = digest
	return nil
}

// maxSettled is how many comments are remembered that need not be parsed again.
const maxSettled = 5000

// parse carries out the commands of a comment that may have some. The comments of a person who
// has given too many today are not even read.
func (p *commander) parse(ctx context.Context, c forge.Comment, l *ledger) error {
	permission, known, err := p.issues.permissions.ofWords(ctx, c.Author.Login, c.NodeID, c.UpdatedAt.After(c.CreatedAt))
	if err != nil {
		return err
	}
	spent := cursor{Spent: l.copied().Spent}
	if !p.issues.spend(&spent, "command", c.Author.Login, permission) {
		return nil
	}
	if err := p.grammar.Readable(c.Body); err != nil {
		p.issues.refuse("complex comment", c.Author.Login, fmt.Sprintf("%s: %v", c.URL, err))
		return nil
	}
	all, _ := p.grammar.Parse(c.Body)
	var fresh []command.Command
	for _, cmd := range all {
		if _, done := l.Done[doneKey(c, cmd)]; !done {
			fresh = append(fresh, cmd)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if !known {
		p.issues.refuse("edited command", c.Author.Login, c.URL+": the forge does not say who edited it; write a new comment")
		return nil
	}
	self, err := p.forge.Self(ctx)
	if err != nil || c.Author.Login == self {
		return err
	}
	if err := p.obey(ctx, c, fresh, self, l); err != nil {
		return fmt.Errorf("%s: %w", c.URL, err)
	}
	for _, cmd := range fresh {
		l.Done[doneKey(c, cmd)] = p.now()
	}
	return p.cursors.saveLedger(ctx, p.repo, *l)
}

func doneKey(c forge.Comment, cmd command.Command) string {
	return fmt.Sprintf("%d/%s", c.ID, cmd.Key())
}

// maxCommands is how many commands of one comment are carried out.
const maxCommands = 10

// Outcomes of the commands of a comment, at the end of the key of the answer.
const (
	allDone    = "done"
	allRefused = "refused"
	someDone   = "both"
)

// obey carries out the commands of one comment, all in one go. It marks the comment,
// first as seen, and has the answer posted. If the answer is there already, the commands
// were carried out before a crash, and only the marks may be missing.
func (p *commander) obey(ctx context.Context, c forge.Comment, all []command.Command, self string, l *ledger) error {
	permission, err := p.issues.permissions.read(ctx, c.Author.Login)
	if err != nil {
		return err
	}
	if c.UpdatedAt.After(c.CreatedAt) { // an editor of less permission speaks
		of, known, err := p.issues.permissions.ofWords(ctx, c.Author.Login, c.NodeID, true)
		if err != nil || !known {
			return err
		}
		if of = lesser(permission, of); of != permission {
			p.issues.refuse("edited command", c.Author.Login, fmt.Sprintf("%s: it was edited by another, and counts with the permission %s", c.URL, of))
			permission = of
		}
	}
	spent := cursor{Spent: l.Spent}
	if !p.issues.spend(&spent, "command", c.Author.Login, permission) {
		return nil
	}
	if err := p.react(ctx, c, forge.Eyes); errors.Is(err, forge.ErrNotFound) {
		return nil // deleted since
	} else if err != nil {
		return err
	}
	key := answerKey(c, all)
	became, err := p.answered(ctx, c, self, key)
	if err != nil {
		return err
	}
	if became == "" {
		if became, err = p.carryOut(ctx, c, all, permission, key); err != nil {
			return err
		}
	}
	for with, wanted := range map[forge.Reaction]bool{forge.Rocket: became != allRefused, forge.Confused: became != allDone} {
		if wanted {
			if err := p.react(ctx, c, with); err != nil && !errors.Is(err, forge.ErrNotFound) {
				return err
			}
		}
	}
	l.Spent = spent.Spent
	return nil
}

// answerKey returns the key of the comment that answers the commands.
func answerKey(c forge.Comment, all []command.Command) string {
	sum := sha256.New()
	for _, cmd := range all {
		sum.Write([]byte(cmd.Key()))
	}
	return fmt.Sprintf("command-%d-%s-", c.ID, hex.EncodeToString(sum.Sum(nil)[:6]))
}

// answered returns what became of commands that were answered before, "" if they were not.
func (p *commander) answered(ctx context.Context, c forge.Comment, self, key string) (became string, err error) {
	all, err := p.forge.Comments(ctx, p.repo, c.On, c.CreatedAt)
	if err != nil {
		return "", err
	}
	for _, o := range all {
		_, found, ok := rules.FindMarker(o.Body)
		if became, ours := strings.CutPrefix(found, key); ok && ours && o.Author.Login == self {
			return became, nil
		}
	}
	return "", nil
}

// carryOut carries out commands and has the answer posted, if there is something to say.
func (p *commander) carryOut(ctx context.Context, c forge.Comment, all []command.Command, permission, key string) (became string, err error) {
	of, err := p.target(ctx, c)
	if err != nil {
		return "", err
	}
	config, err := p.issues.configs.current(ctx)
	if err != nil {
		return "", err
	}
	o := order{commander: p, comment: c, permission: permission, of: of, asks: config.Commands}
	var answers []rules.CommandAnswer
	done, refused := 0, 0
	for i, cmd := range o.together(all) {
		if i > 0 && o.of.in != nil { // the one before may have changed it
			if o.of.in, err = p.client.Get(ctx, of.id); err != nil {
				return "", err
			}
		}
		given := strings.TrimRight("/"+p.grammar.Name+" "+cmd.Verb+" "+cmd.Words, " ")
		text, err := "", error(&command.Wrong{What: fmt.Sprintf("a comment has at most %d commands", maxCommands)})
		if i < maxCommands {
			text, err = o.give(ctx, cmd)
		}
		why, no := reason(err)
		if err != nil && !no {
			return "", err
		}
		p.count(cmd, no)
		p.log.Info("command", "instance", of.id, "by", c.Author.Login, "permission", permission, "command", given, "url", c.URL, "refused", why)
		if no {
			refused++
		} else {
			done++
		}
		if no || text != "" {
			answers = append(answers, rules.CommandAnswer{Given: given, Why: why, Text: text})
		}
	}
	switch became = someDone; {
	case refused == 0:
		became = allDone
	case done == 0:
		became = allRefused
	}
	if len(answers) == 0 {
		return became, nil
	}
	err = p.say(ctx, forgeside.CommentRequest{Repo: p.repo, Number: c.On, Instance: of.id, Key: key + became, Body: rules.Commanded(answers)})
	if errors.Is(err, forge.ErrInvalid) {
		p.log.Warn("the answer to a command is not posted", "url", c.URL, "error", err)
		err = nil
	}
	return became, err
}

// react adds a reaction. Where that is denied the command goes on without.
func (p *commander) react(ctx context.Context, c forge.Comment, with forge.Reaction) error {
	err := p.forge.React(ctx, p.repo, c.ID, with)
	if errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrInvalid) {
		p.log.Warn("a comment cannot be marked", "url", c.URL, "reaction", with, "error", err)
		return nil
	}
	return err
}

func (p *commander) count(cmd command.Command, refused bool) {
	if p.given == nil {
		return
	}
	result, verb := "done", "other" // a stranger's word is no label of a metric
	if refused {
		result = "refused"
	}
	if v, _ := p.grammar.Check(cmd); v.Name != "" {
		verb = v.Name
	}
	p.given.WithLabelValues(p.repo, verb, result).Inc()
}

// given0 has a series of 0 for each verb of a repository and each result.
func given0(c *prometheus.CounterVec, repo string, verbs []command.Verb) {
	for _, verb := range append([]command.Verb{{Name: "other"}}, verbs...) {
		for _, result := range []string{"done", "refused"} {
			c.WithLabelValues(repo, verb.Name, result)
		}
	}
}

// newGiven returns the counter of commands.
func newGiven(r prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_gateway_commands_total",
		Help: "Commands in comments by repository, verb and result: done or refused."}, []string{"repo", "verb", "result"})
	r.MustRegister(c)
	return c
}
