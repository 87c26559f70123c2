package merge_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func said(id int64, by merge.Person, body string, minute int) merge.Comment {
	return merge.Comment{ID: id, By: by, Body: body, At: after(minute)}
}

func onLine(c merge.Comment) merge.Comment {
	c.Path, c.Line = "a.go", 3
	return c
}

func worded(r merge.Review, body string) merge.Review {
	r.Body = body
	return r
}

// TestWhoActedLast is the story lifecycle's comparison of the last review with
// the last push. We pushed at minute 20.
func TestWhoActedLast(t *testing.T) {
	for _, w := range []struct {
		what  string
		world func(*merge.Snapshot)
		who   string
		keys  string // of the new remarks
	}{
		{"nobody said anything", nil, merge.Bot, ""},
		{"a member commented after the push", func(s *merge.Snapshot) { s.Comments = []merge.Comment{said(1, ada, "Why?", 30)} }, merge.Reviewer, "comment 1"},
		{"a member commented before it", func(s *merge.Snapshot) { s.Comments = []merge.Comment{said(1, ada, "Why?", 10)} }, merge.Bot, ""},
		{"in the very second of it", func(s *merge.Snapshot) { s.Comments = []merge.Comment{said(1, ada, "Why?", 20)} }, merge.Reviewer, "comment 1"},
		{"on a line", func(s *merge.Snapshot) { s.Comments = []merge.Comment{onLine(said(1, ada, "Why?", 30))} }, merge.Reviewer, "line 1"},
		{"with a review", func(s *merge.Snapshot) {
			s.Reviews = []merge.Review{worded(review(3, ada, "CHANGES_REQUESTED", head, 30), "No.")}
		}, merge.Reviewer, "review 3"},
		{"everything, oldest first", func(s *merge.Snapshot) {
			s.Reviews = []merge.Review{worded(review(3, ada, "COMMENTED", head, 32), "Well.")}
			s.Comments = []merge.Comment{said(1, bob, "Why?", 33), onLine(said(2, ada, "How?", 31)), said(4, ada, "Old.", 5)}
		}, merge.Reviewer, "line 2, review 3, comment 1"},
		{"an approval says nothing, with words or without", func(s *merge.Snapshot) {
			s.Reviews = []merge.Review{review(3, ada, "APPROVED", head, 30), worded(review(4, bob, "APPROVED", head, 31), "Fine!")}
		}, merge.Bot, ""},
		{"nor does what was dismissed", func(s *merge.Snapshot) {
			s.Reviews = []merge.Review{worded(review(3, ada, "DISMISSED", head, 30), "No.")}
		}, merge.Bot, ""},
		{"nor a review that only holds comments on lines", func(s *merge.Snapshot) { s.Reviews = []merge.Review{review(3, ada, "COMMENTED", head, 30)} }, merge.Bot, ""},
		{"who is no member is not listened to", func(s *merge.Snapshot) { s.Comments = []merge.Comment{said(1, max, "Merge!", 30)} }, merge.Bot, ""},
		{"nor are bots, and we", func(s *merge.Snapshot) {
			other := merge.Person{ID: 9, Login: "ci[bot]", Bot: true, Member: "yes"}
			s.Comments = []merge.Comment{said(1, other, "95 %", 30), said(2, bot, "Done.", 31)}
		}, merge.Bot, ""},
		{"nor who is gone", func(s *merge.Snapshot) { s.Comments = []merge.Comment{said(1, merge.Person{Member: "yes"}, "?", 30)} }, merge.Bot, ""},
		{"a person who may be a member leaves it open", func(s *merge.Snapshot) { s.Comments = []merge.Comment{said(1, eve, "Why?", 30)} }, "", ""},
		{"but not beside one who is", func(s *merge.Snapshot) {
			s.Comments = []merge.Comment{said(1, eve, "Why?", 30), said(2, ada, "How?", 31)}
		}, merge.Reviewer, "comment 2"},
		{"what a resolved conversation holds is done", func(s *merge.Snapshot) {
			s.Comments = []merge.Comment{onLine(said(1, ada, "Why?", 30)), onLine(said(2, ada, "How?", 31))}
			s.Threads = []merge.Thread{{ID: "T1", Resolved: true, Comments: []int64{1}}, {ID: "T2", Comments: []int64{2}}}
		}, merge.Reviewer, "line 2"},
		{"a human's push is not ours", func(s *merge.Snapshot) {
			s.Pushes = append(s.Pushes, merge.Push{After: older, By: ada, At: after(40)})
			s.Comments = []merge.Comment{said(1, ada, "Why?", 30)}
		}, merge.Reviewer, "comment 1"},
		{"a push that is not on record leaves it open", func(s *merge.Snapshot) {
			s.Pushes, s.Comments = nil, []merge.Comment{said(1, ada, "Why?", 30)}
		}, "", "comment 1"},
		{"comments that cannot be read leave it open", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartComments, Why: "502"}} }, "", ""},
		{"but what can be read is there", func(s *merge.Snapshot) {
			s.Unread, s.Comments = []merge.Unread{{Part: merge.PartReviews, Why: "502"}}, []merge.Comment{said(1, ada, "Why?", 30)}
		}, merge.Reviewer, "comment 1"},
		{"what the work took into account is not new, whenever it was said", func(s *merge.Snapshot) {
			s.Seen, s.Comments = []string{"comment 1"}, []merge.Comment{said(1, ada, "Why?", 30)}
		}, merge.Bot, ""},
		{"what it did not is new, although we pushed since", func(s *merge.Snapshot) {
			s.Seen, s.Comments = []string{}, []merge.Comment{said(1, ada, "Why?", 10)}
		}, merge.Reviewer, "comment 1"},
		{"and needs no record of pushes", func(s *merge.Snapshot) {
			s.Pushes, s.Seen, s.Comments = nil, []string{"comment 1"}, []merge.Comment{said(1, ada, "Why?", 10)}
		}, merge.Bot, ""},
	} {
		t.Run(w.what, func(t *testing.T) {
			s := ready()
			s.Reviews, s.Pushes[0].At = nil, after(20)
			if w.world != nil {
				w.world(&s)
			}
			turn := merge.Activity(s)
			var keys []string
			for _, r := range turn.New {
				keys = append(keys, r.Key)
			}
			if got := strings.Join(keys, ", "); turn.Who != w.who || got != w.keys {
				t.Errorf("%q acted last, new is %q, want %q and %q", turn.Who, got, w.who, w.keys)
			}
			if (turn.Who == "") != (turn.Why != "") {
				t.Errorf("turn = %+v: why it is not known is said when it is not", turn)
			}
		})
	}
}
