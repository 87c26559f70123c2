package merge

import "strings"

func (in assessment) open() Gate {
	switch {
	case in.s.Merged:
		return gate(GateOpen, Fail, "it is merged already, as %s", short(in.s.MergeSHA))
	case in.s.State == "open":
		return gate(GateOpen, Pass, "it is open")
	case in.s.State == "closed":
		return gate(GateOpen, Fail, "it was closed without a merge")
	}
	return gate(GateOpen, Unknown, "its state %q is not known", in.s.State)
}

func (in assessment) notDraft() Gate {
	if in.s.Draft {
		return gate(GateNotDraft, Pending, "it is a draft until it is marked ready")
	}
	return gate(GateNotDraft, Pass, "it is no draft")
}

// ours: the head is the branch we push to, at a commit we know how it got there.
func (in assessment) ours() Gate {
	switch {
	case in.s.Moved != "":
		return gate(GateHeadIsOurs, Unknown, "the head moved from %s to %s while it was read", short(in.s.Head), short(in.s.Moved))
	case in.s.HeadRef != in.r.Branch || !strings.EqualFold(in.s.HeadRepo, in.s.Repo):
		return gate(GateHeadIsOurs, Fail, "the head is %s of %q, not %s of %s", in.s.HeadRef, in.s.HeadRepo, in.r.Branch, in.s.Repo)
	case in.r.Commit != "" && in.s.Head == in.r.Commit:
		return gate(GateHeadIsOurs, Pass, "%s is the commit we pushed", short(in.s.Head))
	}
	by, known := in.s.pusher()
	switch {
	case known && in.s.we(by):
		return gate(GateHeadIsOurs, Pass, "we pushed %s", short(in.s.Head))
	case !known && !in.r.ForeignCommits:
		why, _ := in.s.unread(PartPushes)
		if why == "" {
			why = "no push of it is on record"
		}
		return gate(GateHeadIsOurs, Unknown, "the author of the push of %s is not known: %s", short(in.s.Head), why)
	}
	who := "another account"
	if known && by.Login != "" {
		who = by.Login
	}
	if in.r.ForeignCommits {
		return gate(GateHeadIsOurs, Pass, "%s pushed %s to our branch, which the rules take", who, short(in.s.Head))
	}
	return gate(GateHeadIsOurs, Fail, "%s pushed %s to our branch", who, short(in.s.Head))
}

// pusher returns the account that moved the branch to the head, if that is on record.
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

// mergeable goes by GitHub's two words on it. A merge that only its own rules
// can forbid shows as "blocked" and is waited for.
func (in assessment) mergeable() Gate {
	state := in.s.MergeableState
	by := Evidence{What: "mergeable_state", Says: state}
	switch {
	case in.s.State != "open":
		return gate(GateMergeable, Fail, "it is not open")
	case state == "dirty", in.s.Mergeable != nil && !*in.s.Mergeable:
		return gate(GateMergeable, Fail, "it conflicts with %s", in.s.BaseRef).with(by)
	case in.s.Mergeable == nil:
		return gate(GateMergeable, Unknown, "whether it conflicts is being computed").with(by)
	}
	switch state {
	case "clean", "has_hooks", "unstable":
		return gate(GateMergeable, Pass, "there is no conflict").with(by)
	case "behind", "draft": // gates of their own
		return gate(GateMergeable, Pass, "there is no conflict").with(by)
	case "blocked":
		reason := "a rule of %s blocks it"
		if len(in.s.Protection.Others) > 0 {
			reason += ", perhaps " + names(in.s.Protection.Others)
		}
		return gate(GateMergeable, Pending, reason, in.s.BaseRef).with(by)
	}
	return gate(GateMergeable, Unknown, "its state %q is not known", state).with(by)
}

// fresh goes by our own count where there is a rule. It goes by the forge's word where the
// rule may be one that is not shown.
func (in assessment) fresh() Gate {
	why, missing := in.s.unread(PartProtection)
	strict := in.r.Fresh || in.s.Protection.Strict
	if !strict && missing {
		return gate(GateBaseFresh, Unknown, "%s", why)
	}
	if why, missing := in.s.unread(PartBase); strict && missing {
		return gate(GateBaseFresh, Unknown, "%s", why)
	}
	switch {
	case in.s.State != "open":
		return gate(GateBaseFresh, Fail, "it is not open")
	case in.s.MergeableState == "behind", strict && in.s.Behind > 0:
		return gate(GateBaseFresh, Fail, "the head lacks %d commits of %s", in.s.Behind, in.s.BaseRef)
	case in.s.MergeableState == "unknown", in.s.MergeableState == "":
		return gate(GateBaseFresh, Unknown, "whether it may be behind is being computed")
	case !strict:
		return gate(GateBaseFresh, Pass, "the head need not have all of %s", in.s.BaseRef)
	}
	return gate(GateBaseFresh, Pass, "the head has all of %s", in.s.BaseRef)
}
