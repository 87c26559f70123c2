package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
)

// own takes the role's own section.
func (r *reading) own(now json.RawMessage) error {
	var keys map[string]json.RawMessage
	switch {
	case len(now) > maxSection:
		return fmt.Errorf("%w: section %s has %d bytes, want at most %d", ErrInvalid, r.section, len(now), maxSection)
	case json.Unmarshal(now, &keys) != nil || keys == nil:
		return fmt.Errorf("%w: section %s is not an object", ErrInvalid, r.section)
	}
	value, err := r.before.over(r.section, keys)
	if err != nil {
		return err
	}
	r.put(r.section, value)
	r.out.Result.Summary = gist(value)
	return nil
}

// over is the document's section with the keys laid over it.
func (d Document) over(section string, keys map[string]json.RawMessage) (any, error) {
	switch section {
	case "triage":
		return over(section, d.Triage, keys)
	case "analysis":
		return over(section, d.Analysis, keys)
	case "writer":
		return over(section, d.Writer, keys)
	case "build":
		return over(section, d.Build, keys)
	case "review":
		return over(section, d.Review, keys)
	case "commit":
		return over(section, d.Commit, keys)
	}
	return nil, fmt.Errorf("%w: no role writes section %s", ErrInvalid, section)
}

// gist is what a section says, as the summary of a result.
func gist(section any) string {
	switch s := section.(type) {
	case Triage:
		if !s.ShouldProceed {
			return strings.TrimSpace(text(s.RejectionReason))
		}
	case Analysis:
		return strings.TrimSpace(s.Brief)
	case Writer:
		return strings.TrimSpace(s.Summary)
	case Build:
		return strings.TrimSpace(strings.Join(s.Errors, "\n"))
	case Review:
		if said := strings.TrimSpace(text(s.FeedbackForWriter)); said != "" {
			return said
		}
		return string(s.Verdict)
	}
	return ""
}
