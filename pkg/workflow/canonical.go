package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
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
	plain    = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	reserved = regexp.MustCompile(`^(true|false|yes|no|on|off|y|n|null)$`)
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
