// Package prd reads and writes prd.json, the plan file of the story lifecycle:
// a list of stories, each with its status. Writing changes the values that
// changed and no other byte. It is pure.
package prd

import (
	"cmp"
	"slices"
)

// Status is a story's status. There are exactly six (story lifecycle, valid
// status values).
type Status string

// The six, which are also the states of the lifecycle.
const (
	Pending   Status = "pending"
	Committed Status = "committed"
	Pushed    Status = "pushed"
	Merged    Status = "merged"
	Skipped   Status = "skipped"
	Invalid   Status = "invalid"
)

// Statuses lists the six in the order of the lifecycle.
func Statuses() []Status { return []Status{Pending, Committed, Pushed, Merged, Skipped, Invalid} }

// Ended reports whether nothing is left to be done.
func (s Status) Ended() bool { return slices.Contains([]Status{Merged, Skipped, Invalid}, s) }

// DefaultPriority is that of a story that names none. Lower comes first.
const DefaultPriority = 100

// Story is one story of a plan.
type Story struct {
	ID             string
	Title          string
	Description    string
	Criteria       []Criterion // acceptanceCriteria
	Priority       int
	Status         Status
	PR             int      // prNumber; 0: none
	LastActivityBy string   // bot, reviewer, or empty: nobody yet
	Branch         string   // branchName; empty: none yet
	Issue          int      // on the forge; 0: none
	After          []string // ids of the stories that it depends on, in order
	Line           int      // where it begins in the file

	raw  []byte
	node node
}

// JSON is the story as the file has it, on one line.
func (s Story) JSON() string { return compact(s.raw) }

// File is a plan file.
type File struct {
	Name    string
	Stories []Story
	// Ignored are the keys that mean nothing in a plan, in the order of the file.
	Ignored []Ignored

	src []byte
}

// Parse reads a plan: a list of stories, or an object with one as "stories", "userStories",
// "tasks", "features" or "items", each story with a "status" or with "passes". An error lists all its faults at once, every
// line by its number; it is made of *Problem.
func Parse(name string, src []byte) (*File, error) {
	r := reader{name: name, src: src}
	root, err := parse(src)
	if err != nil {
		return nil, r.syntax(err)
	}
	f := &File{Name: name, src: src, Stories: r.plan(root)}
	r.ignore(root)
	slices.SortStableFunc(r.ignored, func(a, b Ignored) int { return cmp.Compare(a.Line, b.Line) })
	f.Ignored = r.ignored
	return f, r.err()
}

// ParseStory reads one story: what Story.JSON gives.
func ParseStory(text string) (Story, error) {
	r := reader{name: "story", src: []byte(text)}
	root, err := parse(r.src)
	if err != nil {
		return Story{}, r.syntax(err)
	}
	return r.story(root), r.err()
}
