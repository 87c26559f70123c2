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
func (in assessment) approval(r Review) (Verdict, string) {
	stale := r.Commit != in.s.Head && (in.s.Protection.DismissStale || !in.r.StaleApprovals)
	switch {
	case r.State == "DISMISSED":
		return Fail, "dismissed"
	case r.State != "APPROVED":
		return Fail, "requested changes"
	case r.By.ID == in.s.Author.ID:
		return Fail, "approved, but is the author"
	case r.By.ID == in.s.Self.ID, r.By.Bot && !slices.Contains(in.r.Bots, r.By.ID):
		return Fail, "approved, but is a bot"
	case stale:
		return Fail, fmt.Sprintf("approved %s, an earlier commit", short(r.Commit))
	case !in.r.StaleApprovals && !in.s.Retargeted.IsZero() && !r.At.After(in.s.Retargeted): // forges count whole seconds
		return Fail, fmt.Sprintf("approved before the base became %s", in.s.BaseRef)
	case slices.Contains(in.s.Requested, r.By.ID):
		return Fail, "approved, and is asked to review it again"
	case r.By.canWrite() == Fail:
		return Fail, "approved, but may only " + r.By.Permission
	}
	if in.s.Protection.LastPush {
		switch by, known := in.s.pusher(); {
		case !known:
			return Unknown, "approved; whether they pushed last is not known"
		case by.ID == r.By.ID:
			return Fail, "approved, but pushed last"
		}
	}
	if r.By.canWrite() == Unknown {
		return Unknown, "approved; their permissions are not known"
	}
	return Pass, "approved " + short(r.Commit) + " as " + r.By.Permission // attestation.Build reads it
}

func (in assessment) approvals() Gate {
	if why, missing := in.s.unread(PartReviews, PartProtection, PartReviewState); missing {
		return gate(GateApprovals, Unknown, "%s", why)
	}
	need := max(in.r.Approvals, in.s.Protection.Approvals)
	if !in.r.Unreviewed {
		need = max(need, 1)
	}
	have, perhaps, evidence := 0, 0, []Evidence{}
	for _, r := range in.s.latest() {
		v, says := in.approval(r)
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
	case in.s.Decision == "REVIEW_REQUIRED":
		verdict, reason = Pending, reason+", but the branch demands another's"
		if in.s.Protection.CodeOwners {
			reason += ", perhaps a code owner's"
		}
	case !slices.Contains([]string{"", "APPROVED", "CHANGES_REQUESTED"}, in.s.Decision):
		verdict, reason = Unknown, fmt.Sprintf("the forge's decision %q is not known", in.s.Decision)
	}
	return gate(GateApprovals, verdict, "%s", reason).with(evidence...)
}

func (in assessment) noChanges() Gate {
	if why, missing := in.s.unread(PartReviews, PartReviewState); missing {
		return gate(GateNoChangesRequested, Unknown, "%s", why)
	}
	verdict, who, evidence := Pass, []string{}, []Evidence{}
	for _, r := range in.s.latest() {
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
	case in.s.Decision == "CHANGES_REQUESTED":
		return gate(GateNoChangesRequested, Fail, "requested, as the forge has it")
	}
	return gate(GateNoChangesRequested, Pass, "nobody whose word counts requests changes")
}

func (in assessment) resolved() Gate {
	if in.r.OpenThreads {
		if why, missing := in.s.unread(PartProtection); missing {
			return gate(GateThreadsResolved, Unknown, "%s", why)
		}
		if !in.s.Protection.Threads {
			return gate(GateThreadsResolved, Pass, "conversations may stay open")
		}
	}
	if why, missing := in.s.unread(PartReviewState); missing {
		return gate(GateThreadsResolved, Unknown, "%s", why)
	}
	var open []Evidence
	for _, t := range in.s.Threads {
		if !t.Resolved {
			open = append(open, Evidence{What: "thread " + t.ID, Says: fmt.Sprintf("open on %s:%d", t.Path, t.Line)})
		}
	}
	if len(open) > 0 {
		return gate(GateThreadsResolved, Fail, "%d of %d conversations are open", len(open), len(in.s.Threads)).with(open...)
	}
	return gate(GateThreadsResolved, Pass, "all %d conversations are resolved", len(in.s.Threads))
}

func (in assessment) noHold() Gate {
	var held []Evidence
	for _, l := range in.s.Labels {
		if slices.ContainsFunc(in.r.Holds, func(h string) bool { return strings.EqualFold(h, l) }) {
			held = append(held, Evidence{What: "label " + l, Says: "holds it"})
		}
	}
	switch {
	case in.s.Held != "":
		return gate(GateNoHold, Fail, "%s", in.s.Held).with(held...)
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
