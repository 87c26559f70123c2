package prd

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reader makes stories of nodes and notes what is wrong with them.
type reader struct {
	name     string
	src      []byte
	problems []*Problem
}

func (r *reader) plan(root node) []Story {
	list, ok := root.first("stories", "userStories")
	_, both := root.get("userStories")
	switch {
	case root.kind != '{' || !ok:
		r.problem(root.start, "", `this is no plan: want an object with "stories" or "userStories"`)
		return nil
	case both && list.key == "stories":
		r.problem(list.start, "", `there are "stories" and "userStories": which of them is the plan?`)
		return nil
	case list.value.kind != '[':
		r.problem(list.value.start, "", "%q is no list", list.key)
		return nil
	}
	var all []Story
	lines := map[string]int{}
	for _, n := range list.value.items {
		s := r.story(n)
		if line, twice := lines[s.ID]; twice && s.ID != "" {
			r.problem(n.start, s.ID, "there is one of this id on line %d already", line)
		}
		lines[s.ID] = s.Line
		all = append(all, s)
	}
	return all
}

func (r *reader) story(n node) Story {
	s := Story{Line: r.line(n.start), raw: r.src[n.start:n.end], node: n, Status: Pending, Priority: DefaultPriority}
	if n.kind != '{' {
		r.problem(n.start, "", "a story is an object")
		return s
	}
	keys := map[string]bool{}
	s.ID = r.id(n)
	for _, m := range n.members {
		if keys[m.key] {
			r.problem(m.start, s.ID, "%q is there twice", m.key)
		}
		keys[m.key] = true
	}
	s.Title, s.Description = r.text(n, s.ID, "title"), r.text(n, s.ID, "description")
	s.Branch = r.text(n, s.ID, "branchName", "branch")
	if s.Title == "" {
		s.Title = s.ID
	}
	s.Priority = r.number(n, s.ID, DefaultPriority, "priority")
	s.PR = r.number(n, s.ID, 0, "prNumber")
	s.Issue = r.issue(n, s.ID)
	s.Criteria = r.criteria(n, s.ID)
	s.Status = r.status(n, s.ID)
	if s.LastActivityBy = r.text(n, s.ID, "lastActivityBy"); !slices.Contains([]string{"", "bot", "reviewer"}, s.LastActivityBy) {
		m, _ := n.get("lastActivityBy")
		r.problem(m.value.start, s.ID, "lastActivityBy %q: want null, bot or reviewer", s.LastActivityBy)
	}
	if s.Status == Pushed && s.PR <= 0 {
		r.problem(n.start, s.ID, "it is pushed, but has no prNumber")
	}
	return s
}

// status is the story's, or what "passes" says of a story without one.
func (r *reader) status(n node, id string) Status {
	m, ok := n.get("status")
	if !ok || m.value.kind == 0 && m.value.value == nil {
		if done, ok := n.get("passes"); ok {
			yes, is := done.value.value.(bool)
			if !is {
				r.problem(done.value.start, id, "passes is neither true nor false")
			}
			if yes {
				return Merged
			}
		}
		return Pending
	}
	text, is := m.value.value.(string)
	if s := Status(text); is && slices.Contains(Statuses(), s) {
		return s
	}
	r.problem(m.value.start, id, "status %s: want one of %s", compact(r.src[m.value.start:m.value.end]), listed())
	return Pending
}

func listed() string {
	var names []string
	for _, s := range Statuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func (r *reader) id(n node) string {
	m, _ := n.get("id")
	id := ""
	switch v := m.value.value.(type) {
	case string:
		id = strings.TrimSpace(v)
	case json.Number:
		id = v.String()
	}
	if id == "" {
		r.problem(n.start, "", "a story has no id")
	}
	return id
}

// text is the member of the first key that is there; null is empty.
func (r *reader) text(n node, id string, keys ...string) string {
	m, ok := n.first(keys...)
	if !ok || m.value.kind == 0 && m.value.value == nil {
		return ""
	}
	text, ok := m.value.value.(string)
	if !ok {
		r.problem(m.value.start, id, "%s is no text", m.key)
	}
	return text
}

func (r *reader) number(n node, id string, or int, key string) int {
	m, ok := n.get(key)
	if !ok || m.value.kind == 0 && m.value.value == nil {
		return or
	}
	number, _ := m.value.value.(json.Number)
	i, err := strconv.Atoi(number.String())
	if err != nil || i < 0 {
		r.problem(m.value.start, id, "%s is no whole number of 0 or more", key)
		return or
	}
	return i
}

// issueRef is a number, "#12" or an address that ends in issues/12.
var issueRef = regexp.MustCompile(`^(?:#|https?://\S+/issues/)?([1-9][0-9]{0,9})$`)

func (r *reader) issue(n node, id string) int {
	m, ok := n.first("issueNumber", "issue")
	if !ok || m.value.kind == 0 && m.value.value == nil {
		return 0
	}
	ref := issueRef.FindStringSubmatch(fmt.Sprint(m.value.value))
	if m.value.kind != 0 || ref == nil {
		r.problem(m.value.start, id, "%s names no issue: want a number", m.key)
		return 0
	}
	number, _ := strconv.Atoi(ref[1]) // the pattern has seen to it
	return number
}
