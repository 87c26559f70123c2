package merge

import (
	"fmt"
	"slices"
)

// method is the best way to merge that the repository and the branch allow.
func (in assessment) method() (string, Gate) {
	if why, missing := in.s.unread(PartProtection, PartReviewState); missing {
		return "", gate(GateMethodAllowed, Unknown, "%s", why)
	}
	p := in.s.Protection
	if p.Queue {
		return in.queue()
	}
	wanted := in.r.Methods
	if len(wanted) == 0 {
		wanted = []string{"squash", "merge", "rebase"}
	}
	var refused []Evidence
	for _, m := range wanted {
		switch {
		case !slices.Contains(in.s.Methods, m):
			refused = append(refused, Evidence{What: m, Says: "the repository does not allow it"})
		case p.Methods != nil && !slices.Contains(p.Methods, m):
			refused = append(refused, Evidence{What: m, Says: "a rule of " + in.s.BaseRef + " does not allow it"})
		case p.Linear && m == "merge":
			refused = append(refused, Evidence{What: m, Says: in.s.BaseRef + " takes no merge commits"})
		default:
			return m, gate(GateMethodAllowed, Pass, "%s", m).with(refused...)
		}
	}
	return "", gate(GateMethodAllowed, Fail, "%s", fmt.Sprintf("none of %s is allowed", names(wanted))).with(refused...)
}

// acceptance: the story's own tests have passed on this very commit.
func (in assessment) acceptance() Gate {
	a := in.s.Acceptance
	if in.r.NoAcceptance {
		return gate(GateAcceptance, Pass, "it has no acceptance tests")
	}
	says := Evidence{What: "acceptance tests on " + short(a.Commit), Says: string(a.Verdict)}
	switch {
	case a.Commit == "":
		return gate(GateAcceptance, Pending, "they have not run")
	case a.Commit != in.s.Head:
		return gate(GateAcceptance, Pending, "they have not run on %s", short(in.s.Head)).with(says)
	case a.Verdict == Pass:
		return gate(GateAcceptance, Pass, "they passed on %s", short(a.Commit)).with(says)
	case a.Verdict == Fail, a.Verdict == Pending:
		return gate(GateAcceptance, a.Verdict, "they are not passed on %s: %s", short(a.Commit), a.Reason).with(says)
	}
	return gate(GateAcceptance, Unknown, "their verdict %q is not known", a.Verdict).with(says)
}
