package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Late tells people that an instance has stayed in a state for long.
type Late struct {
	Waits     bool // for people; else for the role Worker
	Worker    string
	State     string
	For       time.Duration // since it came into the state
	Expected  time.Duration
	Open      []instance.Question // to people
	Intervene bool                // it is time that a person looks at it
	Command   string              // which shows why
}

// Text is the comment that reminds people of what they are waited for, or tells them
// what takes long.
func (l Late) Text() string { return write("late.md", l) }

// Since and Planned are For and Expected for people: "3h30m", "5 days".
func (l Late) Since() string   { return Span(l.For) }
func (l Late) Planned() string { return Span(l.Expected) }

// AsksPeople is the key of the marker of an issue on which people are asked about an
// instance that has no issue.
const AsksPeople = "asks-people"

// FollowsMerge is the key of the marker of an issue about checks that went red after a merge.
const FollowsMerge = "follow-up"

// Asks is the body of an issue on which people are asked.
func Asks(title, instance string) string {
	return write("asks.md", map[string]any{"Title": title, "Command": "signalbox show " + instance})
}

// Span formats a duration to the minute, and a long one in days. Less than half a minute is empty.
func Span(d time.Duration) string {
	if days := int(d.Round(time.Hour).Hours()) / 24; days > 1 {
		return fmt.Sprintf("%d days", days)
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "h0m") + map[bool]string{true: "h"}[d.Round(time.Minute)%time.Hour == 0 && d >= time.Hour]
}
