package merge

import "strings"

func (w world) open() Gate {
	switch {
	case w.s.Merged:
		return gate(GateOpen, Fail, "it is merged already, as %s", short(w.s.MergeSHA))
	case w.s.State == "open":
		return gate(GateOpen, Pass, "it is open")
	case w.s.State == "closed":
		return gate(GateOpen, Fail, "it was closed without a merge")
	}
	return gate(GateOpen, Unknown, "its state %q is not known", w.s.State)
}

func (w world) notDraft() Gate {
	if w.s.Draft {
		return gate(GateNotDraft, Pending, "it is a draft until it is marked ready")
	}
	return gate(GateNotDraft, Pass, "it is no draft")
}

// ours: the head is the branch we push to, at a commit we know how it got there.
func (w world) ours() Gate {
	switch {
	case w.s.Moved != "":
		return gate(GateHeadIsOurs, Unknown, "the head moved from %s to %s while it was read", short(w.s.Head), short(w.s.Moved))
	case w.s.HeadRef != w.r.Branch || !strings.EqualFold(w.s.HeadRepo, w.s.Repo):
		return gate(GateHeadIsOurs, Fail, "the head is %s of %q, not %s of %s", w.s.HeadRef, w.s.HeadRepo, w.r.Branch, w.s.Repo)
	case w.r.Commit != "" && w.s.Head == w.r.Commit:
		return gate(GateHeadIsOurs, Pass, "%s is the commit we pushed", short(w.s.Head))
	}
	by, known := w.s.pusher()
	switch {
	case known && w.s.we(by):
		return gate(GateHeadIsOurs, Pass, "we pushed %s", short(w.s.Head))
	case !known && !w.r.ForeignCommits:
		why, _ := w.s.unread(PartPushes)
		if why == "" {
			why = "no push of it is on record"
		}
		return gate(GateHeadIsOurs, Unknown, "who pushed %s is not known: %s", short(w.s.Head), why)
	}
	who := "somebody else"
	if known && by.Login != "" {
		who = by.Login
	}
	if w.r.ForeignCommits {
		return gate(GateHeadIsOurs, Pass, "%s pushed %s to our branch, which the rules take", who, short(w.s.Head))
	}
	return gate(GateHeadIsOurs, Fail, "%s pushed %s to our branch", who, short(w.s.Head))
}

// pusher is who moved the branch to the head, if that is on record.
func (s Snapshot) pusher() (Person, bool) {
	if _, missing := s.unread(PartPushes); missing {
		return Person{}, false
	}
	for at := len(s.Pushes) - 1; at >= 0; at-- {
		if p := s.Pushes[at]; p.After == s.Head {
			return p.By, p.By.ID != 0
		}
	}
	return Person{}, false
}

// mergeable goes by GitHub's two words on it. What only its own rules can
// forbid shows as "blocked" and is waited for.
func (w world) mergeable() Gate {
	state := w.s.MergeableState
	by := Evidence{What: "mergeable_state", Says: state}
	switch {
	case w.s.State != "open":
		return gate(GateMergeable, Fail, "it is not open")
	case state == "dirty", w.s.Mergeable != nil && !*w.s.Mergeable:
		return gate(GateMergeable, Fail, "it conflicts with %s", w.s.BaseRef).with(by)
	case w.s.Mergeable == nil:
		return gate(GateMergeable, Unknown, "whether it conflicts is being computed").with(by)
	}
	switch state {
	case "clean", "has_hooks", "unstable":
		return gate(GateMergeable, Pass, "there is no conflict").with(by)
	case "behind", "draft": // gates of their own
		return gate(GateMergeable, Pass, "there is no conflict").with(by)
	case "blocked":
		reason := "a rule of %s blocks it"
		if len(w.s.Protection.Others) > 0 {
			reason += ", perhaps " + names(w.s.Protection.Others)
		}
		return gate(GateMergeable, Pending, reason, w.s.BaseRef).with(by)
	}
	return gate(GateMergeable, Unknown, "its state %q tells nothing", state).with(by)
}

// fresh goes by our own count where there is a rule, and by the forge's word
// where the rule may be one that is not shown.
func (w world) fresh() Gate {
	why, missing := w.s.unread(PartProtection)
	strict := w.r.Fresh || w.s.Protection.Strict
	if !strict && missing {
		return gate(GateBaseFresh, Unknown, "%s", why)
	}
	if why, missing := w.s.unread(PartBase); strict && missing {
		return gate(GateBaseFresh, Unknown, "%s", why)
	}
	switch {
	case w.s.State != "open":
		return gate(GateBaseFresh, Fail, "it is not open")
	case w.s.MergeableState == "behind", strict && w.s.Behind > 0:
		return gate(GateBaseFresh, Fail, "the head lacks %d commits of %s", w.s.Behind, w.s.BaseRef)
	case w.s.MergeableState == "unknown", w.s.MergeableState == "":
		return gate(GateBaseFresh, Unknown, "whether it may be behind is being computed")
	case !strict:
		return gate(GateBaseFresh, Pass, "the head need not have all of %s", w.s.BaseRef)
	}
	return gate(GateBaseFresh, Pass, "the head has all of %s", w.s.BaseRef)
}
