package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Issue creates an issue of bob on the forge.
func (s *Env) Issue(title string) instance.Issue {
	s.Helper()
	made, err := s.Forge.Client("bob").CreateIssue(s.Ctx, forgetest.Repo,
		forge.NewIssue{Title: title, Body: "It says 5.\n\n## Acceptance criteria\n\n- make check"})
	if err != nil {
		s.Fatal(err)
	}
	return instance.Issue{Repo: forgetest.Repo, Number: made.Number, Title: title, Body: made.Body, Author: "bob", URL: made.URL}
}

// Code is work on the repository.
type Code struct {
	Base, Head string
	Bundles    []string // the first brings the base, the others the head
}

// Code returns the code of the first commit on trunk.
func (s *Env) Code() Code {
	c := s.Work()
	return Code{Base: c.Base, Head: c.Base, Bundles: c.Bundles[:1]}
}

// Work returns the code with a change, the same each time.
func (s *Env) Work() Code {
	s.Helper()
	if s.changed == nil {
		base, bundle, err := s.workspace.Snapshot(s.Ctx, forgetest.Repo, workspace.Remote{URL: s.Forge.URL + "/" + forgetest.Repo + ".git"},
			forgetest.Trunk)
		if err != nil {
			s.Fatal(err)
		}
		c := s.Change(Code{Base: base, Head: base, Bundles: []string{bundle}}, "sum.txt", "4\n")
		s.changed = &c
	}
	return *s.changed
}

// Change commits a change of a file.
func (s *Env) Change(c Code, file, text string) Code {
	s.Helper()
	tree, err := s.workspace.Checkout(s.Ctx, workspace.Spec{Repo: forgetest.Repo, Base: c.Base, Head: c.Head, Bundles: c.Bundles})
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	forgetest.WriteFile(s, tree.Dir, file, text)
	head, _, err := tree.Commit(s.Ctx, "Mend "+file)
	if err != nil {
		s.Fatal(err)
	}
	bundle, err := tree.Bundle(s.Ctx)
	if err != nil {
		s.Fatal(err)
	}
	return Code{Base: c.Base, Head: head, Bundles: append(c.Bundles[:len(c.Bundles):len(c.Bundles)], bundle)}
}

// Open opens an instance on the code.
func (s *Env) Open(id, workflow string, issue instance.Issue, c Code, state string, vars ...string) {
	s.Helper()
	open := &pb.Open{Workflow: workflow, Issue: wire.Issue(issue), Base: c.Base, State: state, Vars: map[string]string{}}
	if len(c.Bundles) > 0 {
		open.Bundle = c.Bundles[0]
	}
	for i := 0; i < len(vars); i += 2 {
		open.Vars[vars[i]] = vars[i+1]
	}
	if _, err := s.Client.OpenWith(s.Ctx, "", id, open); err != nil {
		s.Fatal(err)
	}
}

// Move moves the instance by an override.
func (s *Env) Move(id, state string) {
	s.Helper()
	if _, err := s.Client.Override(s.Ctx, id, state, "to begin with"); err != nil {
		s.Fatal(err)
	}
}

// Get returns the instance.
func (s *Env) Get(id string) *pb.Instance {
	s.Helper()
	in, err := s.Client.Get(s.Ctx, id)
	if err != nil {
		s.Fatal(err)
	}
	return in
}

// Report claims the work of another role and reports.
func (s *Env) Report(id, role string, r *pb.Result) {
	s.Helper()
	s.end(id, role, subject.Report, func(token uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Report{Report: &pb.Report{Token: token, Result: r}}}
	})
}

// Escalate claims the work of another role and escalates it to people.
func (s *Env) Escalate(id, role, reason string) {
	s.Helper()
	s.end(id, role, subject.Escalate, func(token uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Escalate{Escalate: &pb.Escalate{Token: token, Reason: reason, RequiresHuman: true}}}
	})
}

func (s *Env) end(id, role, name string, cmd func(token uint32) *pb.Command) {
	s.Helper()
	agent := role + "-elsewhere"
	claimed, err := s.Client.DoAs(s.Ctx, role, subject.Claim, &pb.Command{Instance: id, Actor: agent, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: agent, Work: s.Get(id).GetWork(), LeaseMs: uint32(Lease.Milliseconds())}}})
	if err == nil {
		c := cmd(claimed.GetToken())
		c.Instance, c.Actor = id, agent
		_, err = s.Client.DoAs(s.Ctx, role, name, c)
	}
	if err != nil {
		s.Fatalf("%s %ss: %v", role, name, err)
	}
}

// WantComments returns the comments of the bot on an issue or pull request. It fails if
// they are not as many as wanted.
func (s *Env) WantComments(number, want int) ([]forge.Comment, error) {
	all, err := s.Forge.Client("ann").Comments(s.Ctx, forgetest.Repo, number, time.Time{})
	if err != nil {
		return nil, err
	}
	var ours []forge.Comment
	var text []string
	for _, c := range all {
		if c.Author.Login == "signalbox" {
			ours, text = append(ours, c), append(text, c.Body)
		}
	}
	if len(ours) != want {
		return ours, fmt.Errorf("there are %d comments on #%d, want %d:\n%s", len(ours), number, want, strings.Join(text, "\n---\n"))
	}
	return ours, nil
}

// Pulls returns the pull requests from a branch, in any state.
func (s *Env) Pulls(branch string) ([]forge.PullRequest, error) {
	all, err := s.Forge.Client("ann").PullRequests(s.Ctx, forgetest.Repo, time.Time{})
	return slices.DeleteFunc(all, func(p forge.PullRequest) bool { return p.HeadRef != branch }), err
}
