package rules

import (
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// HelpRequest asks people for what only they can give.
type HelpRequest struct {
	Agent   string // the role that asks; empty: the lifecycle does
	Reason  string
	Summary string // of the last result
	Found   []string
	Open    []instance.Question // to people
	Writers bool                // only those who may write to the repository are heard
}

// Text is the comment that says what is needed, and how people answer.
func (h HelpRequest) Text() string {
	h.Found = h.Found[:min(len(h.Found), maxShown)]
	if oneLine(h.Summary) == oneLine(h.Reason) {
		h.Summary = ""
	}
	return write("help.md", h)
}

// Obstacle is the comment that tells people what is in the way of an assignment
// and asks what should happen.
func Obstacle(a brain.Assignment) string {
	h := HelpRequest{Open: openOf(a.Questions)}
	if a.Last != nil {
		h.Summary, h.Found = a.Last.Summary, a.Last.IssuesFound
	}
	return h.Text()
}
