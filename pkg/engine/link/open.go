package link

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// actor is the actor of the commands.
const actor = "orchestrator"

// open opens a child. A child that can never be opened counts as ended, and not
// well. A child whose lifecycle this process does not have is left to a process
// that has it.
func (l *Linker) open(ctx context.Context, parent string, to instance.Link) error {
	child, err := l.Definitions.Named(to.Workflow)
	if err != nil {
		if !l.unknownWorkflows[to.Workflow] {
			l.Log.Error("an instance that was spawned waits for its lifecycle", "instance", to.Instance, "parent", parent, "error", err)
			l.unknownWorkflows[to.Workflow] = true
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
	base, bundles := codeOf(in)
	err = l.handle(ctx, instance.Command{ID: commandID("spawn", to.Instance), Instance: to.Instance, Do: instance.Open{
		Issue: in.Issue, Base: base, Bundles: bundles, State: to.State, Vars: inheritedVars(def, in, child), Parent: parent,
	}}, to.Workflow)
	var no *instance.Refusal
	switch {
	case err == nil, errors.As(err, &no) && no.Code == instance.CodeExists:
		return nil
	case no != nil:
		l.Log.Error("an instance that was spawned cannot be opened", "instance", to.Instance, "parent", parent, "error", err)
		return l.notifyEnd(ctx, parent, instance.End{Instance: to.Instance})
	}
	return err
}

// inheritedVars returns the parent's vars that the child's lifecycle declares too,
// if it can read their values.
func inheritedVars(parent *workflow.Definition, in instance.Instance, child *workflow.Definition) map[string]string {
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

// codeOf returns the git commit of an instance and the bundles that carry it: those
// of its base, and the newest, which has everything since.
func codeOf(in instance.Instance) (head string, bundles []instance.Bundle) {
	base := slices.IndexFunc(in.Bundles, func(b instance.Bundle) bool { return b.Head == in.Base })
	newest := -1
	for i, b := range in.Bundles {
		if b.Head == in.Head {
			newest = i
		}
	}
	if base < 0 || newest < 0 {
		return in.Head, in.Bundles
	}
	bundles = slices.Clone(in.Bundles[:base+1])
	if newest > base {
		bundles = append(bundles, in.Bundles[newest])
	}
	return in.Head, bundles
}

// commandID derives a command id from the instances. Every process derives the
// same.
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
