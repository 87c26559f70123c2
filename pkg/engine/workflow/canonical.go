package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Source is the definition's canonical YAML: complete without what it was laid
// over, keys in a fixed order, no comments. Loading it gives a definition of
// the same hash. The text is written here and not by a library, so that no
// upgrade of one changes a hash.
func (d *Definition) Source() []byte {
	var w writer
	w.line(0, "workflow: %s", scalar(d.Name))
	w.line(0, "version: %d", d.Version)
	w.line(0, "initial: %s", scalar(d.Initial))
	if len(d.Entries) > 0 {
		w.line(0, "entries: %s", names(d.Entries))
	}
	w.values("policy", d.Policy)
	w.values("vars", d.Vars)
	if len(d.Order) > 0 {
		w.line(0, "order:")
	}
	for _, g := range d.Order {
		w.line(1, "- %s", scalar(g.Source))
	}
	if len(d.May) > 0 {
		w.line(0, "may:")
	}
	for _, action := range sortedKeys(d.May) {
		w.line(1, "%s: %s", action, names(d.May[action]))
	}
	d.gives.write(&w)
	if len(d.Resolves) > 0 {
		w.line(0, "resolves:")
	}
	for _, r := range d.Resolves {
		w.line(1, "%s: %s", scalar(r.Signal), scalar(r.When.Source))
	}
	if d.Loop.Window > 0 {
		w.line(0, "loop: {window: %d, distinct: %d}", d.Loop.Window, d.Loop.Distinct)
	}
	if len(d.Limits) > 0 {
		w.line(0, "limits:")
		w.rules(1, d, d.Limits)
	}
	if len(d.Gates) > 0 {
		w.line(0, "gates:")
	}
	for _, g := range d.Gates {
		w.item(1, pair{"name", scalar(g.Name)}, pair{"to", names(g.To)}, pair{"require", scalar(g.Require.Source)},
			pair{"instead", names(g.Instead)}, pair{"reason", optional(g.Reason)})
	}
	w.line(0, "states:")
	for _, s := range d.States {
		w.state(d, s)
	}
	return w.Bytes()
}

func hash(d *Definition) string {
	sum := sha256.Sum256(d.Source())
	return hex.EncodeToString(sum[:])
}

type writer struct{ bytes.Buffer }

func (w *writer) line(depth int, format string, args ...any) {
	fmt.Fprintf(w, strings.Repeat("  ", depth)+format+"\n", args...)
}

// pair is a key and its value in YAML; one without a value is left out.
type pair struct{ key, value string }

func (w *writer) item(depth int, pairs ...pair) {
	mark := "- "
	for _, p := range pairs {
		if p.value != "" {
			w.line(depth, "%s%s: %s", mark, p.key, p.value)
			mark = "  "
		}
	}
}

func (w *writer) values(key string, values map[string]any) {
	if len(values) > 0 {
		w.line(0, "%s:", key)
	}
	for _, name := range sortedKeys(values) {
		w.line(1, "%s: %s", name, scalar(values[name]))
	}
}

func names(list []string) string {
	if len(list) == 1 {
		return scalar(list[0])
	}
	quoted := make([]string, len(list))
	for i, name := range list {
		quoted[i] = scalar(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// list is names, or nothing of nothing.
func list(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return names(of)
}

func optional(s string) string {
	if s == "" {
		return ""
	}
	return scalar(s)
}

func yes(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// plain is a text that needs no quotes, unless it is reserved: a word that YAML,
// whatever its version, reads as something else.
var (
	plain    = lazyregexp.New(`^[a-z][a-z0-9_-]*$`)
	reserved = lazyregexp.New(`^(true|false|yes|no|on|off|y|n|null)$`)
)

func scalar(value any) string {
	switch v := value.(type) {
	case string:
		if plain.MatchString(v) && !reserved.MatchString(v) {
			return v
		}
		var b strings.Builder
		e := json.NewEncoder(&b) // a JSON string is a YAML string in double quotes
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // a string always encodes
		return strings.TrimSuffix(b.String(), "\n")
	case float64:
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprint(value)
}

func (w *writer) state(d *Definition, s State) {
	w.line(1, "%s:", scalar(s.Name))
	start := w.Len()
	pairs := []pair{{"about", optional(s.About)}, {"owner", optional(s.Owner)}, {"final", yes(s.Kind == Final)}, {"added", optional(s.Added)}}
	if s.Timeout > 0 {
		pairs = append(pairs, pair{"timeout", s.Timeout.String()})
	}
	if s.Kind == Work && !s.Proposes {
		pairs = append(pairs, pair{"proposes", "false"})
	}
	pairs = append(pairs, pair{"writes", list(s.Writes)}, pair{"tell", yes(s.Tell)})
	if s.work != nil {
		pairs = append(pairs, pair{"work", s.work.String()})
	}
	for _, p := range pairs {
		if p.value != "" {
			w.line(2, "%s: %s", p.key, p.value)
		}
	}
	if s.answers != nil {
		w.line(2, "answers:")
	}
	for _, role := range sortedKeys(s.answers) {
		w.line(3, "%s: %s", scalar(role), s.answers[role])
	}
	if len(s.Next) > 0 {
		w.line(2, "next:")
	}
	for _, t := range s.Next {
		if t.Added == "" {
			w.line(3, "- %s", scalar(t.To))
		} else {
			w.line(3, "- {to: %s, added: %s}", scalar(t.To), scalar(t.Added))
		}
	}
	w.block(2, "always", d, s.Always)
	if len(s.Asks) > 0 {
		w.line(2, "asks:")
	}
	for _, q := range s.Asks {
		w.item(3, pair{"when", optional(q.When.Source)}, pair{"to", scalar(q.To)}, pair{"text", scalar(q.Text)})
	}
	if len(s.Spawns) > 0 {
		w.line(2, "spawns:")
	}
	for _, sp := range s.Spawns {
		w.item(3, pair{"when", optional(sp.When.Source)}, pair{"workflow", scalar(sp.Workflow)},
			pair{"state", optional(sp.State)}, pair{"reason", optional(sp.Reason)})
	}
	w.block(2, "decide", d, s.Decide)
	if len(s.On) > 0 {
		w.line(2, "on:")
	}
	for _, signal := range sortedKeys(s.On) {
		w.line(3, "%s:", scalar(signal))
		w.rules(4, d, s.On[signal])
	}
	if w.Len() == start {
		w.Truncate(w.Len() - 1)
		w.WriteString(" {}\n")
	}
}

func (w *writer) block(depth int, key string, d *Definition, rules []Rule) {
	if len(rules) > 0 {
		w.line(depth, "%s:", key)
		w.rules(depth+1, d, rules)
	}
}

func (w *writer) rules(depth int, d *Definition, rules []Rule) {
	for _, r := range rules {
		w.item(depth, pair{"name", optional(r.Name)}, pair{"when", optional(r.When.Source)}, pair{"to", list(r.To)},
			pair{"stay", optional(r.Stay.Source)}, pair{"escalate", yes(r.Escalate)}, pair{"fresh", yes(r.ResetsFailures)},
			pair{"set", d.set(r.Set)}, pair{"reason", optional(r.Reason)}, pair{"failure", yes(r.Failure)},
			pair{"resumes", yes(r.Resumes)})
	}
}

// set writes values as what they are: the number 3, not the text "3".
func (d *Definition) set(values map[string]string) string {
	if len(values) == 0 {
		return ""
	}
	pairs := make([]string, 0, len(values))
	for _, name := range sortedKeys(values) {
		value, _ := d.Var(name, values[name]) // check has seen that it is one
		pairs = append(pairs, name+": "+scalar(value))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
