package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Values of the last activity on a pull request, in the story
// lifecycle's words (lastActivityBy).
const (
	Reviewer = "reviewer" // a person waits for an answer
	Bot      = "bot"      // we did, and wait for a reviewer
)

// LastActivity is the last activity on a pull request.
type LastActivity struct {
	// The last actor: Reviewer, Bot, or empty when that is not known.
	Who string `json:"who"`
	// New are the remarks that were not acted on, oldest first.
	New []Remark `json:"new,omitempty"`
	// Since is the push that remarks are compared with; zero when there is none.
	Since time.Time `json:"since"`
	// Why is the unknown fact, if Who is empty.
	Why string `json:"why,omitempty"`
}

// Remark is something a reviewer said: a review's body, a comment on a line or
// one on the pull request.
type Remark struct {
	Key  string    `json:"key"` // names it for ever: "review 7", "line 8", "comment 9"
	By   Person    `json:"by"`
	Body string    `json:"body"`
	Path string    `json:"path,omitempty"`
	Line int       `json:"line,omitempty"`
	URL  string    `json:"url,omitempty"`
	At   time.Time `json:"at"`
}

// Activity returns who acted last. It compares the remarks of members of the
// configured organisations with our last push (story lifecycle, "pushed").
// Remarks of other people and of bots do not count, nor does a review that only
// approves. An edited remark is not new.
func Activity(s Snapshot) LastActivity {
	s = sorted(s)
	t := LastActivity{Who: Bot, Since: s.lastPush()}
	unknown := func(format string, args ...any) {
		if t.Why == "" {
			t.Why = fmt.Sprintf(format, args...)
		}
	}
	if why, missing := s.unread(PartReviews, PartComments); missing {
		unknown("%s", why)
	}
	if s.Seen == nil && t.Since.IsZero() {
		why, missing := s.unread(PartPushes)
		if !missing {
			why = "no push is on record"
		}
		unknown("%s", why)
	}
	for _, r := range s.remarks() {
		switch {
		case !s.isNew(r, t.Since):
		case r.By.Member == "yes":
			t.New = append(t.New, r)
		case r.By.Member == "":
			unknown("whether %s is a member is not known", r.By.Login)
		}
	}
	switch {
	case len(t.New) > 0 && (s.Seen != nil || !t.Since.IsZero()):
		t.Who, t.Why = Reviewer, ""
	case t.Why != "":
		t.Who = ""
	}
	return t
}

// isNew reports whether a remark was not taken into account yet. If Seen is nil,
// it was if it is older than the last push.
func (s Snapshot) isNew(r Remark, since time.Time) bool {
	if s.Seen != nil {
		return !slices.Contains(s.Seen, r.Key)
	}
	return !r.At.Before(since)
}

// we reports whether an account is ours. It is the one whose credentials read the snapshot,
// or the author of the pull request, which may be another of our roles.
func (s Snapshot) we(p Person) bool {
	return p.ID != 0 && (p.ID == s.Self.ID || p.ID == s.Author.ID)
}

// lastPush is when we last moved the branch.
func (s Snapshot) lastPush() time.Time {
	var last time.Time
	for _, p := range s.Pushes {
		if s.we(p.By) && p.At.After(last) {
			last = p.At
		}
	}
	return last
}

// remarks is what people said, oldest first. Remarks of a resolved
// conversation have been dealt with.
func (s Snapshot) remarks() []Remark {
	settled := map[int64]bool{}
	for _, t := range s.Threads {
		for _, id := range t.Comments {
			settled[id] = t.Resolved
		}
	}
	var all []Remark
	add := func(r Remark) {
		if r.By.ID != 0 && !s.we(r.By) && !r.By.Bot && strings.TrimSpace(r.Body) != "" {
			all = append(all, r)
		}
	}
	for _, r := range s.Reviews {
		if r.State == "CHANGES_REQUESTED" || r.State == "COMMENTED" {
			add(Remark{Key: fmt.Sprintf("review %d", r.ID), By: r.By, Body: r.Body, URL: r.URL, At: r.At})
		}
	}
	for _, c := range s.Comments {
		kind := "comment"
		if c.Path != "" {
			kind = "line"
		}
		if kind == "line" && settled[c.ID] {
			continue
		}
		add(Remark{Key: fmt.Sprintf("%s %d", kind, c.ID), By: c.By, Body: c.Body, Path: c.Path, Line: c.Line, URL: c.URL, At: c.At})
	}
	slices.SortStableFunc(all, func(a, b Remark) int {
		if by := a.At.Compare(b.At); by != 0 {
			return by
		}
		return strings.Compare(a.Key, b.Key)
	})
	return all
}
