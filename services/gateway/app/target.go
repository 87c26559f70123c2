package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// target is what the commands of a comment are given to.
type target struct {
	id   string       // "" if there is none
	in   *pb.Instance // nil: there is none
	pull int          // its pull request; 0: it has none
	why  string       // that there is none
}

// target finds the instance that a comment is on. It is that of the issue or of the pull
// request, or the open one that the issue's has opened.
func (p *commander) target(ctx context.Context, c forge.Comment) (target, error) {
	id, why, err := p.named(ctx, c)
	if err != nil || id == "" {
		return target{why: why}, err
	}
	in, err := p.client.Get(ctx, id)
	if no := new(instance.Refusal); errors.As(err, &no) {
		return target{why: "finds no instance " + id}, nil
	}
	if err != nil {
		return target{}, err
	}
	if in.GetClosed() != "" {
		if in, err = p.successor(ctx, in); err != nil {
			return target{}, err
		}
	}
	of := target{id: in.GetInstance(), in: in}
	if in.GetIssue().GetRepo() == p.repo {
		of.pull, _ = strconv.Atoi(in.GetVars()["prNumber"])
	}
	return of, nil
}

// successor returns the one open instance that a closed one has opened, or the closed one.
func (p *commander) successor(ctx context.Context, in *pb.Instance) (*pb.Instance, error) {
	open, err := p.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return nil, err
	}
	next := ""
	for _, line := range open {
		if line.GetParent() != in.GetInstance() {
			continue
		}
		if next != "" {
			return in, nil // which is meant is not said
		}
		next = line.GetInstance()
	}
	if next == "" {
		return in, nil
	}
	return p.client.Get(ctx, next)
}

// errBefore means that the first poll of a repository, which says what was open before, is
// under way.
var errBefore = errors.New("the first poll is under way")

// named returns the id of the instance that a comment is on; "" if there is none, and why.
func (p *commander) named(ctx context.Context, c forge.Comment) (id, why string, err error) {
	own := Name(p.repo, c.On)
	known := func() (bool, error) {
		_, err := p.client.Get(ctx, own)
		if no := new(instance.Refusal); errors.As(err, &no) {
			return false, nil
		}
		return err == nil, err
	}
	if ok, err := known(); ok || err != nil {
		return own, "", err
	}
	issue, err := p.forge.Issue(ctx, p.repo, c.On)
	if errors.Is(err, forge.ErrNotFound) {
		id, err := p.pulls.instanceOf(ctx, c.On)
		return id, "finds no work: this pull request is not of Signalbox", err
	}
	if err != nil {
		return "", "", err
	}
	if id, err := p.issues.asksFor(ctx, issue); id != "" || err != nil {
		return id, "", err
	}
	why = "finds no work: this issue is not taken up"
	if issue.State != "open" {
		return "", why + ", and it is closed", nil
	}
	at, err := p.cursors.load(ctx, p.repo)
	if err == nil && !p.issues.begun(at) {
		err = errBefore
	}
	if err != nil {
		return "", "", err
	}
	if err := p.issues.lookAtIssue(ctx, issue, c.CreatedAt); err != nil { // it may be new
		return "", "", err
	}
	if ok, err := known(); ok || err != nil {
		return own, "", err
	}
	config, err := p.issues.configs.current(ctx)
	if err != nil {
		return "", "", err
	}
	if config.never { // no label changes that
		return "", why + ", and no new one is, while " + config.mistakes(), nil
	}
	if label := cmp.Or(p.issues.label, p.issues.intake.Admit); label != "" {
		why += fmt.Sprintf("; the label %s, set by a person with the permission %s, has it taken up", label, p.issues.intake.Start)
	}
	return "", why, nil
}
