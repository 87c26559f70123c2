package prd

import "strings"

// Text is the story in Markdown, for the role that works on it: what it is, and what
// has to hold in the end.
func (s Story) Text() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(s.Description))
	if len(s.Criteria) == 0 {
		return b.String()
	}
	b.WriteString("\n\n## Acceptance criteria\n\n")
	for _, c := range s.Criteria {
		b.WriteString("- " + strings.Join(strings.Fields(c.Text), " ") + "\n")
	}
	return strings.TrimSpace(b.String())
}
