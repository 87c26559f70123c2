package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAnInstanceMigratesToTheNewestOrToTheOneAskedFor(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	old := w.define(chore)
	for _, id := range []string{"newest", "asked", "left"} {
		w.do(e, id, open("a chore"))
	}
	between := w.define(strings.Replace(chore, "version: 1", "version: 2", 1))
	newest := w.define(strings.NewReplacer("version: 1", "version: 3", "owner: worker", "owner: crew").Replace(chore))
	w.define(strings.NewReplacer("workflow: chore", "workflow: errand", "version: 1", "version: 4").Replace(chore))

	for _, c := range []struct{ id, name, want, owner string }{
		{"newest", "", newest.Hash, "crew"},
		{"asked", between.Hash, between.Hash, "worker"},
		{"asked", "chore", newest.Hash, "crew"},
		{"asked", old.Hash, old.Hash, "worker"},
	} {
		out, err := e.Handle(t.Context(), cmd("migrate-"+c.id+c.name, c.id, instance.Migrate{Reason: "mended"}), c.name)
		if err != nil || out.Instance.Definition != c.want || out.Instance.Worker() != c.owner {
			t.Errorf("%s, asked for %q, is of %.8s with %s, %v; want %.8s with %s", c.id, c.name, out.Instance.Definition, out.Instance.Worker(), err, c.want, c.owner)
		}
	}
	if in := w.do(e, "left", instance.Note{Text: "hm"}).Instance; in.Definition != old.Hash {
		t.Error("another instance migrated too")
	}
	for name, text := range map[string]string{"errand": "another lifecycle", "c0ffee": "unknown workflow", old.Hash: "already"} {
		_, err := e.Handle(t.Context(), cmd("no-"+name, "left", instance.Migrate{}), name)
		if !errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) || !strings.Contains(err.Error(), text) {
			t.Errorf("to %q: answered %v, want it refused: %s", name, err, text)
		}
	}
	w.refused(e, cmd("none", "none", instance.Migrate{}), instance.CodeUnknownInstance)
}

func TestADefinitionThatCannotBeReadIsNoAnswer(t *testing.T) {
	w := newEnv(t)
	w.do(w.engine(), "a", open("a chore"))
	e := w.engine(func(c *engine.Config) { c.Definitions = away{w.defs} })
	for name, do := range map[string]instance.Action{"c0ffee": instance.Migrate{}, "": instance.Note{Text: "hm"}} {
		if _, err := e.Handle(t.Context(), cmd("c-"+name, "a", do), name); !errors.Is(err, errAway) || errors.As(err, new(*instance.Refusal)) {
			t.Errorf("%T was answered %v", do, err)
		}
	}
}
