package app

import (
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// done elsewhere, in the words of reviewers. Each names the work as a whole: what is said
// of a line, or of a part, is a remark like another.
var saysElsewhere = regexp.MustCompile(`(?i)(^\s*/invalid\b` +
	`|\b(this|it|that|the (task|story|issue|work|feature|bug)) (is|was|has been|got) (already )?(done|fixed|solved|implemented|completed|addressed|resolved|merged) (already )?` +
	`(elsewhere|in another (pull request|pr|change)|(by|in|with) ([\w.-]+/[\w.-]+)?#\d+)` +
	`|\balready (done|fixed|solved|implemented|completed|addressed|resolved|merged) (elsewhere|in another (pull request|pr|change)|(by|in|with) ([\w.-]+/[\w.-]+)?#\d+)` +
	`|\b(superseded|obsoleted|replaced) by ([\w.-]+/[\w.-]+)?#\d+|\bduplicate of ([\w.-]+/[\w.-]+)?#\d+` +
	`|\b(this|the) (pr|pull request|task|story|work|feature) is (no longer|not) (needed|wanted|necessary|required)\b)`)

// denied is what takes such words back.
var denied = regexp.MustCompile(`(?i)\b(not|never|isn.?t|wasn.?t|if|unless|until|whether)\b[^.!\n]{0,20}$`)

// elsewhere returns the reviewer who says that the work is done elsewhere, or not needed
// any more (story lifecycle, invalid); ok is false if nobody does, or the story's policy
// does not ask.
func (t *visit) elsewhere() (by string, ok bool) {
	if !yes(t.job, "heed_elsewhere") || t.activity.Who != merge.Reviewer {
		return "", false
	}
	for _, r := range t.activity.New {
		if r.Path == "" && doneElsewhere(r.Body) {
			return r.By.Login, true
		}
	}
	return "", false
}

// doneElsewhere reports whether a remark says so in words of its own.
func doneElsewhere(body string) bool {
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimSpace(line), ">") {
			continue
		}
		if at := saysElsewhere.FindStringIndex(line); at != nil && !denied.MatchString(line[:at[0]]) {
			return true
		}
	}
	return false
}
