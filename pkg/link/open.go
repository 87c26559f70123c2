package link

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// actor is who the log says asked.
const actor = "orchestrator"

// open opens the instance that another spawned. One that can never be opened
// has ended, and not well. One of a lifecycle that this process does not have
// waits for a process that has it.
func (l *Linker) open(ctx context.Context, parent string, to instance.Link) error {
	child, err := l.Definitions.Named(to.Workflow)
	if err != nil {
		if !l.strange[to.Workflow] {
			l.Log.Error("an instance that was spawned waits for its lifecycle", "instance", to.Instance, "parent", parent, "error", err)
			l.strange[to.Workflow] = true
		}
		return nil
	}
	in, err := l.Engine.Get(ctx, parent)
	if err != nil {
		return err
	}
	def, err := l.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return err
	}
	base, bundles := carried(in)
	err = l.handle(ctx, instance.Command{ID: commandID("spawn", to.Instance), Instance: to.Instance, Do: instance.Open{
		Issue: in.Issue, Base: base, Bundles: bundles, State: to.State, Vars: shared(def, in, child), Parent: parent,
	}}, to.Workflow)
	var no *instance.Refusal
	switch {
	case err == nil, errors.As(err, &no) && no.Code == instance.CodeExists:
		return nil
	case no != nil:
		l.Log.Error("an instance that was spawned cannot be opened", "instance", to.Instance, "parent", parent, "error", err)
		return l.tell(ctx, parent, instance.End{Instance: to.Instance})
	}
	return err
}

// shared is what the parent remembers under names that its child's lifecycle
// has too, with values it can read.
func shared(parent *workflow.Definition, in instance.Instance, child *workflow.Definition) map[string]string {
	vars := map[string]string{}
	for name, value := range parent.Vars {
		if _, declared := child.Vars[name]; !declared {
			continue
		}
		text, ok := in.Vars[name]
		if !ok {
			text = fmt.Sprint(value)
		}
		if _, ok := child.Var(name, text); ok {
			vars[name] = text
		}
	}
	return vars
}

// carried is the commit an instance's work is at, and what it takes to have it:
// all that the work began with, and the newest bundle, which has everything since.
func carried(in instance.Instance) (head string, bundles []instance.Bundle) {
	began := slices.IndexFunc(in.Bundles, func(b instance.Bundle) bool { return b.Head == in.Base })
	newest := -1
	for i, b := range in.Bundles {
		if b.Head == in.Head {
			newest = i
		}
	}
	if began < 0 || newest < 0 {
		return in.Head, in.Bundles
	}
	bundles = slices.Clone(in.Bundles[:began+1])
	if newest > began {
		bundles = append(bundles, in.Bundles[newest])
	}
	return in.Head, bundles
}

// commandID is the same for the same instances, whoever asks.
func commandID(what string, instances ...string) string {
	hash := sha256.New()
	for _, id := range instances {
		fmt.Fprintf(hash, "%d:%s", len(id), id)
	}
	return what + "-" + hex.EncodeToString(hash.Sum(nil)[:16])
}

const handleTimeout = 10 * time.Second

func (l *Linker) handle(ctx context.Context, cmd instance.Command, name string) error {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	cmd.Actor = actor
	_, err := l.Engine.Handle(ctx, cmd, name)
	return err
}
