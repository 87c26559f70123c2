package rules

import "github.com/signalbox/signalbox/pkg/instance"

// Plea is what an instance waits for that only people can give.
type Plea struct {
	Agent   string // the role that puts it to them; empty: the lifecycle does
	Reason  string
	Summary string // of the last result
	Found   []string
	Open    []instance.Question // to people
	Writers bool                // only those who may write to the repository are heard
}

// Text is the comment that tells people what is waited for, and how they answer.
func (p Plea) Text() string {
	p.Found = p.Found[:min(len(p.Found), maxShown)]
	if oneLine(p.Summary) == oneLine(p.Reason) {
		p.Summary = ""
	}
	return write("plea.md", p)
}
