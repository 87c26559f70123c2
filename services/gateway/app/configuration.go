package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// configurationFor is how long a configuration that was read is used.
const configurationFor = time.Minute

// configurations reads the configuration of a repository where it is needed, and keeps it
// for a short time. A file that is wrong changes nothing: the one before stays in force.
type configurations struct {
	forge      forge.Contents
	client     *client.Client         // nil: the definitions are given
	given      []*workflow.Definition // without a client
	kv         jetstream.KeyValue     // nil: nothing is kept
	checks     forge.Publisher        // nil: no check shows whether the file is right
	repo       string
	workflow   string   // the operator's
	lifecycles []string // that a repository may choose in addition to it
	now        func() time.Time
	log        *slog.Logger

	mu     sync.Mutex
	read   inForce
	until  time.Time
	denied bool               // the forge does not let it be read, and people have a comment about it
	mute   bool               // the forge takes no checks, and people have a comment about it
	silent bool               // nothing is left to post
	looked map[string]located // by repository: what was found at its newest commit
}

// inForce is the configuration that is in force.
type inForce struct {
	repoconfig.Config
	file, commit string
	// newer is the fault of a newer file. problem is the same while people have no
	// comment about it yet.
	newer, problem string
	// wrong is the error of that file, which is wrongFile.
	wrong     error
	wrongFile located
	wrongHash string // of that file
	// never means that there was no right file yet, and the first one is wrong.
	never bool
}

// forInstance returns what an instance keeps of it, with what is wrong with a newer file, "" for
// nothing.
func (f inForce) forInstance(problem string) *instance.Configuration {
	c := f.Of(f.file, f.commit)
	if c == nil && problem != "" {
		c = &instance.Configuration{}
	}
	if c != nil {
		c.Problem = problem
	}
	return c
}

// refuses returns why the issue is not taken up; "" if it may be.
func (f inForce) refuses(issue forge.Issue) string {
	switch {
	case f.never:
		return "the configuration of the repository is wrong: " + f.wrong.Error()
	case f.Label != "" && !change.HasLabel(issue, f.Label):
		return "it has no label " + f.Label
	}
	return ""
}

// maxMistakes is how many mistakes of a file an answer names.
const maxMistakes = 5

// mistakes names in Markdown within a line the file that is wrong, and the places. Text of the
// file is in code spans.
func (f inForce) mistakes() string {
	var all []string
	for _, p := range workflow.Problems(f.wrong) {
		all = append(all, sanitize.Code(p.Error()))
	}
	if len(all) == 0 {
		all = []string{sanitize.Code(f.wrong.Error())}
	}
	more := ""
	if n := len(all) - maxMistakes; n > 0 {
		all, more = all[:maxMistakes], fmt.Sprintf("; and %d more", n)
	}
	file := "the configuration of the repository"
	if f.wrongFile.File != "" {
		file = sanitize.Code(f.wrongFile.name())
	}
	return file + " is wrong: " + strings.Join(all, "; ") + more
}

// located is a file, or that there is none.
type located struct {
	File   string `json:"file,omitempty"` // OWNER/NAME:PATH; empty: there is none
	Commit string `json:"commit,omitempty"`
	Text   string `json:"text,omitempty"`
}

func (s located) name() string {
	if s.Commit == "" {
		return s.File
	}
	return fmt.Sprintf("%s at %.12s", s.File, s.Commit)
}

// kept is what outlasts the gateway: the newest right file, and the wrong one that people have a
// comment about.
type kept struct {
	Good  located `json:"good"`
	Known bool    `json:"known"` // Good is set, also to none
	Told  string  `json:"told,omitempty"`
	// Untold is what the PM is to post of it; nil: it has.
	Untold *untold `json:"untold,omitempty"`
	// Shown is the newest check that shows whether the file is right.
	Shown shownCheck `json:"shown,omitzero"`
}

// current returns the configuration in force. An error is the forge's, or the bus's: then
// nothing is known, and nothing is opened.
func (c *configurations) current(ctx context.Context) (inForce, error) {
	if c == nil {
		return inForce{}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Before(c.until) {
		return c.read, nil
	}
	before, err := c.kept(ctx)
	if err != nil {
		return inForce{}, err
	}
	newest, err := c.find(ctx)
	switch {
	case errors.Is(err, forge.ErrDenied):
		c.read, err = c.unread(ctx, before, err)
	case err == nil:
		c.denied = false
		if c.read, err = c.choose(ctx, newest, before); err == nil {
			err = c.show(ctx)
		}
	default:
		err = fmt.Errorf("configuration of %s: %w", c.repo, err)
	}
	if err != nil {
		return inForce{}, err
	}
	c.until = c.now().Add(configurationFor)
	return c.read, nil
}

// unread returns what counts while the forge does not let the file be read, which takes the
// permission contents: the newest right one, or none. It says so once.
func (c *configurations) unread(ctx context.Context, before kept, err error) (inForce, error) {
	stays := "the operator's values count"
	if before.Good.File != "" {
		stays = before.Good.name() + " stays in force"
	}
	if !c.denied {
		c.log.Warn("the configuration of the repository cannot be read: grant the permission contents", "stays", stays, "error", err)
	}
	c.denied = true
	old, err := c.validate(ctx, before.Good)
	if err == nil && old.wrong != nil { // the operator permits less than before
		old.never = true
	}
	return old, err
}

// choose returns the newest file if it is right, else the newest that was.
func (c *configurations) choose(ctx context.Context, newest located, before kept) (inForce, error) {
	got, err := c.validate(ctx, newest)
	if err != nil {
		return inForce{}, err
	}
	if got.wrong == nil {
		if before.Known && before.Good == newest {
			return got, nil
		}
		if newest.File != "" && before.Good.Text != newest.Text {
			c.log.Info("configuration of the repository", "file", newest.name(), "hash", got.Hash)
		}
		return got, c.keep(ctx, kept{Good: newest, Known: true, Shown: before.Shown})
	}
	old := inForce{never: true}
	if before.Known {
		if old, err = c.validate(ctx, before.Good); err != nil {
			return inForce{}, err
		}
	}
	if old.wrong != nil { // the operator permits less than before
		old = inForce{never: true}
	}
	stays := "nothing new is taken up"
	if !old.never {
		stays = "there is none in force, as before"
		if before.Good.File != "" {
			stays = before.Good.name() + " stays in force"
		}
	}
	old.wrong, old.wrongFile, old.wrongHash = got.wrong, newest, repoconfig.Hash([]byte(newest.Text))
	old.newer = fmt.Sprintf("%s is wrong, and %s:\n%v", newest.name(), stays, got.wrong)
	if before.Told != old.wrongHash {
		old.problem = old.newer
	}
	if c.read.wrong == nil || c.read.wrong.Error() != got.wrong.Error() {
		c.log.Warn("the configuration of the repository is wrong", "file", newest.name(), "stays", stays, "error", got.wrong)
	}
	return old, nil
}

// refresh reads the configuration now, since the file was changed.
func (c *configurations) refresh(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	c.until = time.Time{}
	c.mu.Unlock()
	_, err := c.current(ctx)
	return err
}

// validate reads a file and holds it against what there is.
func (c *configurations) validate(ctx context.Context, s located) (inForce, error) {
	if s.File == "" {
		return inForce{}, nil
	}
	_, name, _ := strings.Cut(s.File, ":")
	defs, err := c.definitions(ctx)
	if err != nil {
		return inForce{}, err
	}
	config, err := repoconfig.Read(name, []byte(s.Text), repoconfig.Operator{Definitions: defs, Lifecycles: append([]string{c.workflow}, c.lifecycles...)})
	if err != nil {
		return inForce{wrong: err}, nil
	}
	return inForce{Config: config, file: s.File, commit: s.Commit}, nil
}

// definitions returns those that the orchestrator has, by the names that are known here.
func (c *configurations) definitions(ctx context.Context) (defs []*workflow.Definition, err error) {
	if c.client == nil {
		return c.given, nil
	}
	builtin, err := workflow.Builtins()
	if err != nil {
		return nil, err
	}
	names := append([]string{c.workflow}, c.lifecycles...)
	for _, d := range builtin {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == "*" {
			continue
		}
		reply, err := c.client.Definition(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("definition %s: %w", name, err)
		}
		d, err := workflow.Load(name, reply.GetSource())
		if err != nil {
			return nil, err
		}
		defs = append(defs, d)
	}
	return defs, nil
}

// find returns the newest file: that of the repository, else that of its owner.
func (c *configurations) find(ctx context.Context) (located, error) {
	own, err := c.at(ctx, c.repo)
	if err != nil || own.File != "" {
		return own, err
	}
	owner, _, _ := strings.Cut(c.repo, "/")
	shared, err := c.at(ctx, owner+"/"+repoconfig.Shared)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrDenied) {
		return located{}, nil
	}
	return shared, err
}

// at returns the file of a repository at its newest commit.
func (c *configurations) at(ctx context.Context, repo string) (located, error) {
	commit, err := c.forge.Newest(ctx, repo)
	if errors.Is(err, forge.ErrNotFound) && repo == c.repo {
		return located{}, nil // it is empty
	}
	if err != nil {
		return located{}, err
	}
	if known, ok := c.looked[repo]; ok && known.Commit == commit {
		return known.orNone(), nil
	}
	found := located{Commit: commit}
	names, err := c.forge.Files(ctx, repo, commit, repoconfig.Dir)
	if err != nil {
		return located{}, err
	}
	for _, name := range repoconfig.Files() {
		if !slices.Contains(names, name) {
			continue
		}
		at := path.Join(repoconfig.Dir, name)
		text, err := c.forge.File(ctx, repo, commit, at)
		if err != nil && !errors.Is(err, forge.ErrInvalid) {
			return located{}, err
		}
		found.File, found.Text = repo+":"+at, string(text[:min(len(text), repoconfig.MaxBytes+1)])
		break
	}
	if c.looked == nil {
		c.looked = map[string]located{}
	}
	c.looked[repo] = found
	return found.orNone(), nil
}

// orNone returns the zero one if there is no file.
func (s located) orNone() located {
	if s.File == "" {
		return located{}
	}
	return s
}

func (c *configurations) kept(ctx context.Context) (k kept, err error) {
	if c.kv != nil {
		k, _, err = record[kept](ctx, c.kv, key(c.repo+"/config"), "configuration of "+c.repo)
	}
	return k, err
}

func (c *configurations) keep(ctx context.Context, k kept) error {
	if c.kv == nil {
		return nil
	}
	return putRecord(ctx, c.kv, key(c.repo+"/config"), "configuration of "+c.repo, k)
}
