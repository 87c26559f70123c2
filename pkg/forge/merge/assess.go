package merge

import (
	"fmt"
	"strings"
)

// Assess asks every gate about the snapshot. The order of the snapshot's lists
// does not matter, and what is not known never helps.
func Assess(s Snapshot, r Rules) Report {
	w := assessment{s: sorted(s), r: r}
	method, how := w.method()
	gates := []Gate{
		w.open(), w.notDraft(), w.ours(), w.mergeable(), w.fresh(),
		w.required(), w.noneFailing(), w.approvals(), w.noChanges(), w.resolved(), w.noHold(),
		how, w.acceptance(),
	}
	return Report{Verdict: sum(gates), Head: s.Head, ReadAt: s.ReadAt, Method: method, Gates: gates}
}

// assessment has what the gates judge.
type assessment struct {
	s Snapshot
	r Rules
}

func gate(name string, verdict Verdict, format string, args ...any) Gate {
	return Gate{Name: name, Verdict: verdict, Reason: fmt.Sprintf(format, args...)}
}

// with adds evidence to a gate.
func (g Gate) with(e ...Evidence) Gate {
	g.Evidence = append(g.Evidence, e...)
	return g
}

// unread tells why the part is not known.
func (s Snapshot) unread(parts ...Part) (why string, missing bool) {
	for _, part := range parts {
		for _, u := range s.Unread {
			if u.Part == part {
				return fmt.Sprintf("%s could not be read: %s", part, u.Why), true
			}
		}
	}
	return "", false
}

// short is a commit for people.
func short(sha string) string {
	if len(sha) > 7 {
		return sha[:7]
	}
	return sha
}

func names(list []string) string { return strings.Join(list, ", ") }
