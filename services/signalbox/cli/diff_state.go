package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// difference is how an instance differs between two commits of the log.
type difference struct {
	Instance string          `json:"instance"`
	From     uint64          `json:"from"`
	To       uint64          `json:"to"`
	Fields   []changedField  `json:"fields"`
	Code     *codeDifference `json:"code"` // null: the code is the same
}

// changedField is a field of show that differs. A value that is not there is null.
type changedField struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

type codeDifference struct {
	From string `json:"from"` // commits of git
	To   string `json:"to"`
	Diff string `json:"diff"`
}

// between prints how the instance differs between --from and --to.
func (c diffCommand) between(ctx context.Context, env *term.Env) error {
	if c.From == 0 || c.To > 0 && c.To <= c.From || c.Attempt > 0 {
		return service.Usagef("want --from SEQ, and a later --to SEQ or none, without --attempt; signalbox history ID --all has the sequences")
	}
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		records, err := s.History(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		before, after := instance.Instance{ID: c.ID}, instance.Instance{ID: c.ID}
		for _, commit := range view.Commits(records) {
			if commit.Seq <= c.From {
				before = instance.Evolve(before, commit)
			}
			if c.To == 0 || commit.Seq <= c.To {
				after = instance.Evolve(after, commit)
			}
		}
		if !before.Exists() {
			return fmt.Errorf("%s was not there yet at commit %d; signalbox history %s --all lists its commits", c.ID, c.From, c.ID)
		}
		if c.To == 0 && c.From >= after.Seq {
			return fmt.Errorf("%s has no commit after %d; its newest is %d", c.ID, c.From, after.Seq)
		}
		d := difference{Instance: c.ID, From: c.From, To: after.Seq}
		if d.Fields, err = fieldsBetween(view.Of(wire.FullView(before)), view.Of(wire.FullView(after))); err != nil {
			return err
		}
		from, to := codeOf(before), codeOf(after)
		if from != to && from != "" {
			d.Code = &codeDifference{From: from, To: to}
			err = withCode(ctx, s, wire.FullView(after), func(g git.Runner) error {
				out, err := g.Output(ctx, maxDiff, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--stat", "--patch", from, to)
				d.Code.Diff = string(out)
				return err
			})
			if err != nil {
				return fmt.Errorf("the code between %s and %s: %w", from, to, err)
			}
		}
		return d.print(env)
	})
}

// codeOf returns the commit of git that an instance is at.
func codeOf(in instance.Instance) string {
	if in.Head != "" {
		return in.Head
	}
	return in.Base
}

// fieldsBetween returns the fields that differ, by name.
func fieldsBetween(before, after view.Instance) (all []changedField, err error) {
	var both [2]map[string]json.RawMessage
	for i, in := range []view.Instance{before, after} {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &both[i]); err != nil {
			return nil, err
		}
	}
	names := maps.Clone(both[0])
	maps.Copy(names, both[1])
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := both[0][name], both[1][name]; string(was) != string(is) {
			all = append(all, changedField{name, was, is})
		}
	}
	return all, nil
}

// maxValue is how many characters of a value people get; --json has all.
const maxValue = 400

// apart returns the parts of two values that only one of them has: of lists their elements, of objects
// their fields, a line each.
func apart(before, after json.RawMessage) (gone, come []string) {
	was, is := parts(before), parts(after)
	for _, one := range was {
		if i := slices.Index(is, one); i >= 0 {
			is = slices.Delete(is, i, i+1)
		} else {
			gone = append(gone, one)
		}
	}
	return gone, is
}

// parts returns the elements of a list or the fields of an object, of any other value the value itself.
func parts(value json.RawMessage) (all []string) {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case len(value) == 0 || string(value) == "null":
		return nil
	case json.Unmarshal(value, &list) == nil:
		for _, one := range list {
			all = append(all, strings.Join(parts(one), ", "))
		}
	case json.Unmarshal(value, &object) == nil:
		for _, name := range slices.Sorted(maps.Keys(object)) {
			all = append(all, name+": "+string(object[name]))
		}
	default:
		all = []string{string(value)}
	}
	return all
}

// print prints the difference.
func (d difference) print(env *term.Env) error {
	if env.JSON {
		return env.Print(d)
	}
	env.Printf("%s  from commit %d to %d\n", term.Line(d.Instance), d.From, d.To)
	for _, f := range d.Fields {
		gone, come := apart(f.Before, f.After)
		env.Printf("%s\n", f.Field)
		for _, line := range gone {
			env.Printf("  - %s\n", term.Cut(term.Line(line), maxValue))
		}
		for _, line := range come {
			env.Printf("  + %s\n", term.Cut(term.Line(line), maxValue))
		}
	}
	if d.Code != nil {
		env.Printf("code from %s to %s\n%s\n", d.Code.From, d.Code.To, term.Text(d.Code.Diff))
	}
	return nil
}
