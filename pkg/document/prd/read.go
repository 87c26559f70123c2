package prd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// reader makes stories of nodes and notes what is wrong with them.
type reader struct {
	name     string
	src      []byte
	problems []*Problem
	ignored  []Ignored
}

// Ignored is a key of a plan that nothing reads.
type Ignored struct {
	Key   string
	Line  int // of the first one
	Count int // how often it is there
}

// ignore notes the keys of an object that were not looked for.
func (r *reader) ignore(n node) {
	for _, m := range n.members {
		i := slices.IndexFunc(r.ignored, func(o Ignored) bool { return o.Key == m.key })
		switch {
		case n.asked[m.key]:
		case i >= 0:
			r.ignored[i].Count++
		default:
			r.ignored = append(r.ignored, Ignored{m.key, r.line(m.start), 1})
		}
	}
}

// lists are the keys under which plans have their stories.
var lists = []string{"stories", "userStories", "tasks", "features", "items"}

func (r *reader) plan(root node) []Story {
	list, ok := r.list(root)
	if !ok {
		return nil
	}
	var all []Story
	lines := map[string]int{}
	for _, n := range list.items {
		s := r.story(n)
		if line, twice := lines[s.ID]; twice && s.ID != "" {
			r.problem(n.start, s.ID, "there is one of this id on line %d already", line)
		}
		lines[s.ID] = s.Line
		all = append(all, s)
	}
	r.order(all)
	return all
}

// list returns the list of stories: the file itself, or what stands under a key of its.
func (r *reader) list(root node) (list node, ok bool) {
	if root.kind == '[' {
		return root, true
	}
	var found []member
	for _, key := range lists {
		if m, ok := root.get(key); ok {
			found = append(found, m)
		}
	}
	switch {
	case root.kind != '{' || len(found) == 0:
		r.problem(root.start, "", "this is no plan: want a list, or an object with one as %s", quotedList(lists))
	case len(found) > 1:
		r.problem(found[0].start, "", "there are %q and %q: which of them is the plan?", found[0].key, found[1].key)
	case found[0].value.kind != '[':
		r.problem(found[0].value.start, "", "%q is no list", found[0].key)
	default:
		return found[0].value, true
	}
	return list, false
}

func quotedList(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, strconv.Quote(s))
	}
	return strings.Join(quoted, ", ")
}

// order checks that what stories come after are other stories, and that none comes after
// itself.
func (r *reader) order(all []Story) {
	of := map[string]Story{}
	for _, s := range all {
		of[s.ID] = s
	}
	for _, s := range all {
		for _, id := range s.After {
			if _, known := of[id]; !known {
				r.problem(s.node.start, s.ID, "it depends on %q, which is no story of this plan", id)
			}
		}
		if comesAfter(of, s.ID, s.ID, map[string]bool{}) {
			r.problem(s.node.start, s.ID, "it depends on itself: %s", strings.Join(s.After, ", "))
		}
	}
}

// comesAfter reports whether the story, or what it depends on, depends on the other.
func comesAfter(of map[string]Story, id, other string, seen map[string]bool) bool {
	for _, before := range of[id].After {
		if before == other {
			return true
		}
		if !seen[before] {
			seen[before] = true
			if comesAfter(of, before, other, seen) {
				return true
			}
		}
	}
	return false
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
	s.Title, s.Description = r.text(n, s.ID, "title", "name"), r.text(n, s.ID, "description")
	s.Branch = r.text(n, s.ID, "branchName", "branch")
	if s.Title == "" {
		s.Title = titleOf(s.Description)
	}
	if s.Title == "" {
		s.Title = s.ID
	}
	s.After = r.after(n, s.ID)
	s.Priority = r.number(n, s.ID, DefaultPriority, "priority")
	s.PR = r.number(n, s.ID, 0, "prNumber")
	s.Issue = r.issue(n, s.ID)
	s.Criteria = r.criteria(n, s.ID)
	s.Status = r.status(n, s.ID)
	if s.LastActivityBy = r.text(n, s.ID, "lastActivityBy"); !slices.Contains([]string{"", "bot", "reviewer"}, s.LastActivityBy) {
		m, _ := n.get("lastActivityBy")
		r.problem(m.value.start, s.ID, "lastActivityBy %q: want null, bot or reviewer", s.LastActivityBy)
	}
	r.ignore(n)
	if s.Status == Pushed && s.PR <= 0 {
		r.problem(n.start, s.ID, "it is pushed, but has no prNumber")
	}
	return s
}

// status is the story's, or what "passes" says of a story without one.
func (r *reader) status(n node, id string) Status {
	m, ok := n.get("status")
	done, passes := n.get("passes")
	if !ok || m.value.kind == 0 && m.value.value == nil {
		if passes {
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
	if id != "" || n.kind != '{' {
		return id
	}
	// A story without an id is known by its words: they stay when others come before it.
	words := r.text(n, "", "title", "name") + "\n" + r.text(n, "", "description")
	if strings.TrimSpace(words) == "" {
		r.problem(n.start, "", "a story has no id, and no title or description to know it by")
		return ""
	}
	sum := sha256.Sum256([]byte(words))
	return "story-" + hex.EncodeToString(sum[:4])
}

// maxTitle is how many letters of a description make a title.
const maxTitle = 80

// titleOf is the first sentence of a description, or the beginning of it.
func titleOf(description string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(description), " "), ". ")
	if letters := []rune(strings.TrimRight(first, ".")); len(letters) > maxTitle {
		return strings.TrimSpace(string(letters[:maxTitle-1])) + "…"
	} else {
		return string(letters)
	}
}

// after lists the ids of the stories that the story depends on.
func (r *reader) after(n node, id string) (all []string) {
	for _, key := range []string{"dependencies", "dependsOn", "depends_on", "blockedBy", "blocked_by"} {
		m, ok := n.get(key)
		if !ok || m.value.kind == 0 && m.value.value == nil {
			continue
		}
		items := m.value.items
		if m.value.kind != '[' {
			items = []node{m.value}
		}
		for _, item := range items {
			switch v := item.value.(type) {
			case string:
				all = append(all, strings.TrimSpace(v))
			case json.Number:
				all = append(all, v.String())
			default:
				r.problem(item.start, id, "%s: want ids of stories", key)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
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
var issueRef = lazyregexp.New(`^(?:#|https?://\S+/issues/)?([1-9][0-9]{0,9})$`)

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
