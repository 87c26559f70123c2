package app

import "testing"

func TestAReviewerWhoSaysThatItIsDoneElsewhereEndsTheStory(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.bob.comment(s.pull, "This is already done elsewhere.") // a person who may not write
	w.ann.review(s.pull, "COMMENT", "Thanks, but this was fixed in #41 already.")
	s.tell()
	in := s.reaches("invalid")
	if in.GetReason() != "a reviewer reports that it is done elsewhere" || in.GetClosed() != "ended" {
		t.Errorf("it ended %s: %s", in.GetClosed(), in.GetReason())
	}
}

func TestOnlyTheWorkAsAWholeIsDoneElsewhere(t *testing.T) {
	for said, want := range map[string]bool{
		"This is already done elsewhere.": true, "This was fixed in #41.": true, "Superseded by #12": true, "/invalid": true,
		"The story is no longer needed": true, "It has been implemented by acme/widgets#7, sorry": true, "A duplicate of #3.": true,
		"> This is already done elsewhere.\n\nNo, it is not.": false, "This was fixed in the last commit, thanks": false,
		"This import is no longer needed": false, "Please do it as it is done in the parser": false, "I doubt whether this is done elsewhere": false,
		"Please check if it is done elsewhere": false, "LGTM": false,
	} {
		if got := doneElsewhere(said); got != want {
			t.Errorf("%q: %t, want %t", said, got, want)
		}
	}
}
