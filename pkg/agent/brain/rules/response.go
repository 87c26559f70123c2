package rules

import "github.com/signalbox/signalbox/pkg/engine/instance"

// Response is what was done about the remarks of reviewers.
type Response struct {
	Commit  string            // the new head of the branch; empty: nothing was changed
	Summary string            // of whoever did it
	Tests   instance.Evidence // on the head
	Remarks []string          // addresses of the remarks it answers
}

// Responded is the comment that answers reviewers. Like all comments here it
// has no marker yet.
func Responded(r Response) string {
	r.Remarks = r.Remarks[:min(len(r.Remarks), maxShown)]
	return write("response.md", r)
}
