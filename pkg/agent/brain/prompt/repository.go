package prompt

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Guidance lists the files in which repositories say how they are changed, to agents and
// to people.
func Guidance() []string {
	return []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONTRIBUTING.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md"}
}

const (
	maxGuidance    = 12 << 10 // bytes of a file of guidance
	maxAllGuidance = 32 << 10 // of all
)

// Repository reads the guidance of a repository, and its templates for a role in a state,
// into b. read returns a plain file of the base and git's id of its content; nothing if
// there is no such file.
func Repository(b *work.Brief, role, state string, read func(name string) (text, blob string, err error)) error {
	left := maxAllGuidance
	var seen []string
	for _, name := range Guidance() {
		text, blob, err := read(name)
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" || slices.Contains(seen, blob) || left <= 0 {
			continue
		}
		seen = append(seen, blob)
		keep := min(len(text), maxGuidance, left)
		b.Guidance = append(b.Guidance, work.File{Path: name, Text: strings.ToValidUTF8(text[:keep], ""), Cut: len(text) - keep})
		left -= keep
	}
	for _, name := range Names(role, state) {
		file := Dir + "/" + name + Suffix
		text, blob, err := read(file)
		if err != nil {
			return err
		}
		if blob != "" {
			b.Templates = append(b.Templates, work.Template{Name: name, File: file, Text: text})
		}
	}
	return nil
}
