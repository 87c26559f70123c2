package app

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// done elsewhere, in the words of reviewers. Each names the work as a whole: what is said
// of a line, or of a part, is a remark like another.
var saysElsewhere = lazyregexp.New(`(?i)(^\s*/invalid\b` +
	`|\b(this|it|that|the (task|story|issue|work|feature|bug)) (is|was|has been|got) (already )?(done|fixed|solved|implemented|completed|addressed|resolved|merged) (already )?` +
	`(elsewhere|in another (pull request|pr|change)|(by|in|with) ([\w.-]+/[\w.-]+)?#\d+)` +
	`|\balready (done|fixed|solved|implemented|completed|addressed|resolved|merged) (elsewhere|in another (pull request|pr|change)|(by|in|with) ([\w.-]+/[\w.-]+)?#\d+)` +
	`|\b(superseded|obsoleted|replaced) by ([\w.-]+/[\w.-]+)?#\d+|\bduplicate of ([\w.-]+/[\w.-]+)?#\d+` +
	`|\b(this|the) (pr|pull request|task|story|work|feature) is (no longer|not) (needed|wanted|necessary|required)\b)`)

// denied is what takes such words back.
var denied = lazyregexp.New(`(?i)\b(not|never|isn.?t|wasn.?t|if|unless|until|whether)\b[^.!\n]{0,20}$`)

// elsewhere ends the visit if a reviewer says that the work is done elsewhere, or not needed
// any more (story lifecycle, invalid), and the story's policy heeds that.
func (t *visit) elsewhere(context.Context) (r instance.Result, done bool, err error) {
	if !t.job.yes("heed_elsewhere") || t.activity.Who != merge.Reviewer {
		return r, false, nil
	}
	for _, remark := range t.activity.New {
		if remark.Path == "" && doneElsewhere(remark.Body) {
			return t.outcome("elsewhere", "%s wrote that it is done elsewhere, or not needed", remark.By.Login), true, nil
		}
	}
	return r, false, nil
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
