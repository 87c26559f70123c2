package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Var gives the text of a variable its declared type. ok is false if there is no such
// variable or the text is no value of its type.
func (d *Definition) Var(name, text string) (value any, ok bool) {
	like, known := d.Vars[name]
	if !known {
		return nil, false
	}
	return convert(text, like)
}

var placeholder = lazyregexp.New(`\$\{policy\.([a-z][A-Za-z0-9_]*)\}`)

// Text is s with each ${policy.NAME} replaced by the policy's value.
func (d *Definition) Text(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		name := placeholder.FindStringSubmatch(p)[1]
		if value, ok := d.Policy[name]; ok {
			return fmt.Sprint(value)
		}
		return p
	})
}

// Opens reports whether an instance may be opened in the state.
func (d *Definition) Opens(state string) bool {
	return state == d.Initial || slices.Contains(d.Entries, state)
}

// WrittenBy lists the sections a role may write, in file order of its states.
func (d *Definition) WrittenBy(role string) []string {
	var sections []string
	for _, name := range d.OwnedBy(role) {
		s, _ := d.State(name)
		for _, w := range s.Writes {
			if !slices.Contains(sections, w) {
				sections = append(sections, w)
			}
		}
	}
	return sections
}
