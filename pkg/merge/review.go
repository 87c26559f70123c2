package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// latest is the review that counts for each person, oldest first. A comment
// never replaces a verdict; a dismissal ends it and revives no earlier one.
func (s Snapshot) latest() []Review {
	var counts []Review
	for _, r := range s.Reviews {
		if r.By.ID == 0 {
			continue
		}
		switch r.State {
		case "APPROVED", "CHANGES_REQUESTED", "DISMISSED":
			counts = slices.DeleteFunc(counts, func(c Review) bool { return c.By.ID == r.By.ID })
			counts = append(counts, r)
		}
	}
	return counts
}

// canWrite tells whether the person's verdict counts for the branch.
func (p Person) canWrite() Verdict {
	switch p.Permission {
	case "":
		return Unknown
	case "admin", "maintain", "write":
		return Pass
	}
	return Fail
}

// approval tells whether the review is an approval that counts, and why not.
func (w world) approval(r Review) (Verdict, string) {
	stale := r.Commit != w.s.Head && (w.s.Protection.DismissStale || !w.r.StaleApprovals)
	switch {
	case r.State == "DISMISSED":
		return Fail, "dismissed"
	case r.State != "APPROVED":
		return Fail, "requested changes"
	case r.By.ID == w.s.Author.ID:
		return Fail, "approved, but is the author"
	case r.By.ID == w.s.Self.ID, r.By.Bot && !slices.Contains(w.r.Bots, r.By.ID):
		return Fail, "approved, but is a bot"
	case stale:
		return Fail, fmt.Sprintf("approved %s, an earlier commit", short(r.Commit))
	case r.By.canWrite() == Fail:
		return Fail, "approved, but may only " + r.By.Permission
	}
	if w.s.Protection.LastPush {
		switch by, known := w.s.pusher(); {
		case !known:
			return Unknown, "approved; whether they pushed last is not known"
		case by.ID == r.By.ID:
			return Fail, "approved, but pushed last"
		}
	}
	if r.By.canWrite() == Unknown {
		return Unknown, "approved; what they may do is not known"
	}
	return Pass, "approved " + short(r.Commit)
}

func (w world) approvals() Gate {
	if why, missing := w.s.unread(PartReviews, PartProtection, PartStanding); missing {
		return gate(GateApprovals, Unknown, "%s", why)
	}
	need := max(w.r.Approvals, w.s.Protection.Approvals)
	if !w.r.Unreviewed {
		need = max(need, 1)
	}
	have, perhaps, evidence := 0, 0, []Evidence{}
	for _, r := range w.s.latest() {
		v, says := w.approval(r)
		evidence = append(evidence, Evidence{What: r.By.Login, Says: says, URL: r.URL})
		switch v {
		case Pass:
			have++
		case Unknown:
			perhaps++
		}
	}
	verdict, reason := Pass, fmt.Sprintf("%d of %d approvals", have, need)
	switch {
	case have+perhaps < need:
		verdict = Pending
	case have < need:
		verdict = Unknown
	case w.s.Decision == "REVIEW_REQUIRED":
		verdict, reason = Pending, reason+", but the branch demands another's"
		if w.s.Protection.CodeOwners {
			reason += ", perhaps a code owner's"
		}
	case !slices.Contains([]string{"", "APPROVED", "CHANGES_REQUESTED"}, w.s.Decision):
		verdict, reason = Unknown, fmt.Sprintf("the forge's decision %q is not known", w.s.Decision)
	}
	return gate(GateApprovals, verdict, "%s", reason).with(evidence...)
}

func (w world) noChanges() Gate {
	if why, missing := w.s.unread(PartReviews, PartStanding); missing {
		return gate(GateNoChangesRequested, Unknown, "%s", why)
	}
	verdict, who, evidence := Pass, []string{}, []Evidence{}
	for _, r := range w.s.latest() {
		if r.State != "CHANGES_REQUESTED" || r.By.canWrite() == Fail {
			continue
		}
		if r.By.canWrite() == Unknown {
			verdict = worse(verdict, Unknown)
		} else {
			verdict = worse(verdict, Fail)
		}
		who = append(who, r.By.Login)
		evidence = append(evidence, Evidence{What: r.By.Login, Says: "requested changes of " + short(r.Commit), URL: r.URL})
	}
	switch {
	case verdict == Unknown:
		return gate(GateNoChangesRequested, Unknown, "requested by %s, and what they may do is not known", names(who)).with(evidence...)
	case verdict == Fail:
		return gate(GateNoChangesRequested, Fail, "requested by %s", names(who)).with(evidence...)
	case w.s.Decision == "CHANGES_REQUESTED":
		return gate(GateNoChangesRequested, Fail, "requested, as the forge has it")
	}
	return gate(GateNoChangesRequested, Pass, "nobody whose word counts requests changes")
}

func (w world) resolved() Gate {
	if w.r.OpenThreads {
		if why, missing := w.s.unread(PartProtection); missing {
			return gate(GateThreadsResolved, Unknown, "%s", why)
		}
		if !w.s.Protection.Threads {
			return gate(GateThreadsResolved, Pass, "conversations may stay open")
		}
	}
	if why, missing := w.s.unread(PartStanding); missing {
		return gate(GateThreadsResolved, Unknown, "%s", why)
	}
	var open []Evidence
	for _, t := range w.s.Threads {
		if !t.Resolved {
			open = append(open, Evidence{What: "thread " + t.ID, Says: fmt.Sprintf("open on %s:%d", t.Path, t.Line)})
		}
	}
	if len(open) > 0 {
		return gate(GateThreadsResolved, Fail, "%d of %d conversations are open", len(open), len(w.s.Threads)).with(open...)
	}
	return gate(GateThreadsResolved, Pass, "all %d conversations are resolved", len(w.s.Threads))
}

func (w world) noHold() Gate {
	var held []Evidence
	for _, l := range w.s.Labels {
		if slices.ContainsFunc(w.r.Holds, func(h string) bool { return strings.EqualFold(h, l) }) {
			held = append(held, Evidence{What: "label " + l, Says: "holds it"})
		}
	}
	switch {
	case w.s.Held != "":
		return gate(GateNoHold, Fail, "%s", w.s.Held).with(held...)
	case len(held) > 0:
		return gate(GateNoHold, Fail, "held by a label").with(held...)
	}
	return gate(GateNoHold, Pass, "nobody holds it")
}

// pushedAt is when the branch moved to the head; zero when that is not on record.
func (s Snapshot) pushedAt() time.Time {
	for at := len(s.Pushes) - 1; at >= 0; at-- {
		if s.Pushes[at].After == s.Head {
			return s.Pushes[at].At
		}
	}
	return time.Time{}
}
