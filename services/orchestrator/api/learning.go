package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// books are the learnings of repositories, as far as they have been asked for. They are a cache of the
// log.
type books struct {
	secrets *secret.Scanner

	mu  sync.Mutex
	all map[string]*book // by repository
}

// book is the learnings of one repository up to a sequence.
type book struct {
	mu  sync.Mutex
	of  learning.Book
	seq uint64
}

func newBooks() (*books, error) {
	secrets, err := secret.New()
	return &books{secrets: secrets, all: map[string]*book{}}, err
}

func (b *books) get(repo string) *book {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[repo] == nil {
		b.all[repo] = &book{}
	}
	return b.all[repo]
}

// learnings returns what was learned of a repository, as the log has it now.
func (s *Server) learnings(ctx context.Context, repo string) ([]learning.Learning, error) {
	b := s.books.get(repo)
	b.mu.Lock()
	defer b.mu.Unlock()
	commits, err := s.Store.Since(ctx, learning.Record(repo), b.seq)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		commit, err := wire.ToCommit(c)
		if err == nil && c.Prev != b.seq {
			err = fmt.Errorf("%w: commit %d of %q does not follow %d", eventstore.ErrCorrupt, c.Seq, c.Instance, b.seq)
		}
		if err != nil {
			return nil, err
		}
		b.of.Apply(commit)
		b.seq = c.Seq
	}
	return b.of.List(time.Now(), s.endedWell), nil
}

// endedWell reports whether an instance is in a final state, and not by a failure of the work.
func (s *Server) endedWell(id string) bool {
	in, ok := s.Engine.Known(id)
	return ok && in.Closed == instance.Ended && !in.Failed
}

// note executes a note about learnings. Those of a repository are kept in its record: people add,
// confirm and remove there. A learning of an instance is noted there, and then in the record of its
// repository.
func (s *Server) note(ctx context.Context, role string, cmd instance.Command, n instance.Note) (out engine.Outcome, no *pb.Refusal) {
	if repo, ok := learning.Repo(cmd.Instance); ok {
		return s.noteInRecord(ctx, role, cmd, n, repo)
	}
	switch n.Kind {
	case learning.Noted:
		return s.noteLearned(ctx, role, cmd, n)
	case learning.Used:
		return s.noteUsed(ctx, role, cmd, n)
	}
	return out, invalid("a note %q is for the instance that keeps the learnings of a repository, such as %s", n.Kind, learning.Record("acme/widgets"))
}

// noteInRecord executes what a person says of the learnings of a repository.
func (s *Server) noteInRecord(ctx context.Context, role string, cmd instance.Command, n instance.Note, repo string) (out engine.Outcome, no *pb.Refusal) {
	if role != "" {
		return out, forbidden([]string{workflow.Human}, "people add, confirm and remove what %s keeps; an agent notes what it learned with its own instance", cmd.Instance)
	}
	switch n.Kind {
	case learning.Noted:
		if n, no = s.checked(n); no != nil {
			return out, no
		}
		n.Learning = &instance.Learning{Path: n.Learning.Path, Trusted: true}
	case learning.Confirmed, learning.Dropped:
		if no := s.knowAll(ctx, repo, n.Kind, about(n).IDs); no != nil {
			return out, no
		}
		n.Learning = &instance.Learning{IDs: about(n).IDs}
	default:
		return out, invalid("a note %q is for the instance that used a learning", n.Kind)
	}
	out, err := s.record(ctx, repo, cmd, n)
	return out, refusal(err)
}

// noteLearned executes a note of what was learned in an instance. The sender repeats it until there is a
// reply, so the record gets it, too.
func (s *Server) noteLearned(ctx context.Context, role string, cmd instance.Command, n instance.Note) (out engine.Outcome, no *pb.Refusal) {
	plain := n.Learning == nil
	clean, no := s.checked(n)
	if no != nil && !plain { // else it is a remark of that kind, and no more
		return out, no
	}
	own := cmd
	switch {
	case plain:
		own.Do = instance.Note{Kind: n.Kind, Text: n.Text}
	case clean.Learning.Path == "":
		own.Do = instance.Note{Kind: n.Kind, Text: clean.Text}
	default:
		own.Do = clean
	}
	out, err := s.Engine.Handle(ctx, own, "")
	if err == nil && no == nil {
		err = s.carry(ctx, role, cmd, clean, out.Instance)
	}
	return out, refusal(err)
}

// carry notes what was learned in an instance in the record of its repository, unless that adds nothing.
func (s *Server) carry(ctx context.Context, role string, cmd instance.Command, n instance.Note, in instance.Instance) error {
	if in.Issue.Repo == "" {
		full, err := s.Engine.Get(ctx, cmd.Instance) // of a closed one it may be left out
		if err != nil || full.Issue.Repo == "" {
			return err
		}
		in = full
	}
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil || def.Policy["learnings"] == learning.None {
		return err
	}
	known, err := s.learnings(ctx, in.Issue.Repo)
	if err != nil {
		return err
	}
	of := instance.Learning{Path: n.Learning.Path, Instance: cmd.Instance}
	if of.Trusted, err = s.trusted(ctx, role, in); err != nil || !adds(known, learning.ID(of.Path, n.Text), of.Trusted) {
		return err
	}
	cmd.ID = derived(cmd.ID)
	_, err = s.record(ctx, in.Issue.Repo, cmd, instance.Note{Kind: learning.Noted, Text: n.Text, Learning: &of})
	return err
}

// adds reports whether a proposed learning is a new one, and fits, or adds to one.
func adds(known []learning.Learning, id string, trusted bool) bool {
	proposed := 0
	for _, l := range known {
		if l.ID == id {
			return l.State == learning.StateAged || trusted && !l.Trusted && l.State != learning.StateRemoved
		}
		if l.State == learning.StateProposed {
			proposed++
		}
	}
	return proposed < learning.MaxKept
}

// trusted reports whether in an instance, and in those that led to it, only people spoke who may write to
// the repository. An agent is believed of the instance that its role works on.
func (s *Server) trusted(ctx context.Context, role string, in instance.Instance) (bool, error) {
	if role != "" && (!in.Claim.Live(time.Now()) || in.Claim.Role != role) {
		return false, nil
	}
	const generations = 10
	id := in.ID
	for range generations {
		commits, err := s.commits(ctx, id)
		if errors.Is(err, eventstore.ErrUnknown) {
			return false, nil
		}
		if err != nil || !learning.Trusted(commits) {
			return false, err
		}
		opened, ok := commits[0].Events[0].(instance.Opened)
		if !ok || opened.Parent == "" {
			return ok, nil
		}
		id = opened.Parent
	}
	return false, nil
}

// commits returns the commits of an instance.
func (s *Server) commits(ctx context.Context, id string) ([]instance.Commit, error) {
	stored, err := s.Engine.Past(ctx, id)
	if err != nil {
		return nil, err
	}
	all := make([]instance.Commit, len(stored))
	for i, c := range stored {
		if all[i], err = wire.ToCommit(c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// noteUsed executes an agent's note of the learnings that its prompt has. It is kept in the record, and
// once for each instance.
func (s *Server) noteUsed(ctx context.Context, role string, cmd instance.Command, n instance.Note) (out engine.Outcome, no *pb.Refusal) {
	in, err := s.Engine.Get(ctx, cmd.Instance)
	if err != nil {
		return out, refusal(err)
	}
	if role == "" || !in.Claim.Live(time.Now()) || in.Claim.Role != role {
		return out, forbidden(nil, "only the agent that works on %s notes the learnings of its prompt", cmd.Instance)
	}
	known, err := s.learnings(ctx, in.Issue.Repo)
	if err != nil {
		return out, refusal(err)
	}
	ids := slices.DeleteFunc(slices.Clone(about(n).IDs), func(id string) bool {
		return !slices.ContainsFunc(known, func(l learning.Learning) bool { return l.ID == id && !slices.Contains(l.Used, in.ID) })
	})
	out = engine.Outcome{Seq: in.Seq, Duplicate: true, Instance: in}
	if len(ids) > 0 {
		n.Learning = &instance.Learning{Instance: in.ID, IDs: ids}
		cmd.ID = derived(cmd.ID)
		if _, err := s.record(ctx, in.Issue.Repo, cmd, instance.Note{Kind: learning.Used, Learning: n.Learning}); err != nil {
			return out, refusal(err)
		}
	}
	return out, nil
}

// record adds a note to the record of a repository, which it opens if there is none.
func (s *Server) record(ctx context.Context, repo string, cmd instance.Command, n instance.Note) (engine.Outcome, error) {
	cmd.Instance, cmd.Do = learning.Record(repo), n
	in, known := s.Engine.Known(cmd.Instance)
	if !known {
		open := instance.Command{ID: "open-" + learning.Workflow, Instance: cmd.Instance, Actor: cmd.Actor,
			Do: instance.Open{Issue: instance.Issue{Title: "Learnings of " + repo}}}
		out, err := s.Engine.Handle(ctx, open, learning.Workflow)
		if no := new(instance.Refusal); err != nil && !(errors.As(err, &no) && no.Code == instance.CodeExists) {
			return out, err
		}
		if in = out.Instance; err != nil {
			if in, err = s.Engine.Get(ctx, cmd.Instance); err != nil {
				return out, err
			}
		}
	}
	if in.Workflow != learning.Workflow {
		return engine.Outcome{}, &instance.Refusal{Code: instance.CodeInvalid, Instance: cmd.Instance,
			What: fmt.Sprintf("an instance of %s has the name of the one that would keep the learnings of %s", in.Workflow, repo)}
	}
	return s.Engine.Handle(ctx, cmd, "")
}

// derived returns the id of the second command of a request.
func derived(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "record-" + hex.EncodeToString(sum[:])
}

// checked returns a note with the learning as it is kept, or a refusal of one that none may be.
func (s *Server) checked(n instance.Note) (instance.Note, *pb.Refusal) {
	of := about(n)
	path, text, err := learning.Clean(of.Path, n.Text)
	if err != nil {
		return n, invalid("%v", err)
	}
	if found := s.books.secrets.Scan(path + "\n" + text); len(found) > 0 {
		return n, invalid("the learning has %s: nothing secret is kept in the log; say where it is found instead", found[0].What())
	}
	n.Text, n.Learning = text, &instance.Learning{Path: path}
	return n, nil
}

// about returns the fields of a note other than its text.
func about(n instance.Note) instance.Learning {
	if n.Learning == nil {
		return instance.Learning{}
	}
	return *n.Learning
}

// knowAll refuses ids without a learning in the repository, and to confirm one that was removed.
func (s *Server) knowAll(ctx context.Context, repo, kind string, ids []string) *pb.Refusal {
	if len(ids) == 0 {
		return invalid("ids: want those of the learnings that are meant")
	}
	known, err := s.learnings(ctx, repo)
	if err != nil {
		return refusal(err)
	}
	var all []string
	for _, l := range known {
		all = append(all, l.ID)
	}
	for _, id := range ids {
		if i := slices.Index(all, id); i >= 0 {
			if l := known[i]; kind == learning.Confirmed && l.State == learning.StateRemoved {
				return invalid("%s was removed, and a confirmation does not bring it back: signalbox learn add --repo %s%s %q does", id, repo, pathFlag(l.Path), l.Text)
			}
			continue
		}
		no := invalid("%s has no learning %.40q", repo, id)
		if near := workflow.Nearest(id, all); near != "" {
			no.Message += fmt.Sprintf("; did you mean %s?", near)
			no.Allowed = []string{near}
		}
		return no
	}
	return nil
}

func pathFlag(path string) string {
	if path == "" {
		return ""
	}
	return " --path " + path
}
