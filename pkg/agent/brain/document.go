package brain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
)

// remembered adds the variables and the document.
func (p *prompt) remembered(a Assignment) {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(a.Vars)) {
		values = append(values, fmt.Sprintf("%s = %q", name, a.Vars[name]))
	}
	if len(values) > 0 {
		p.add("\n## What is remembered\n\n")
		p.quote(strings.Join(values, "\n"))
	}
	if len(a.Sections) > 0 {
		p.add("\n## The document\n")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Sections)) {
		p.add("\nSection %s:\n", oneLine(name))
		p.quote(pretty(a.Sections[name]))
	}
}

func pretty(section json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, section, "", "  ") != nil {
		return string(section)
	}
	return b.String()
}

// escalations adds the escalations to people and their resolutions.
func (p *prompt) escalations(all []instance.Escalation) {
	if len(all) == 0 {
		return
	}
	p.add("\n## Put to people\n\n")
	for _, e := range all {
		p.add("%d. By the %s:\n", e.Number, oneLine(e.Agent))
		p.quote(e.Reason)
		switch {
		case e.Resolved && strings.TrimSpace(e.Resolution) != "":
			p.add("%s resolved it:\n", who(e.By))
			p.quote(e.Resolution)
		case e.Resolved:
			p.add("%s resolved it.\n", who(e.By))
		default:
			p.add("Not resolved yet.\n")
		}
	}
}

func who(name string) string {
	if name == "" {
		return "Somebody"
	}
	return fmt.Sprintf("%q", name)
}
