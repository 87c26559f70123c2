package prd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// Progress is how far a story has come.
type Progress struct {
	Status         Status
	PR             int
	LastActivityBy string
	Branch         string
}

// Update is the file with the stories at their progress, by id; stories that
// are not named stay. Only values that changed are rewritten; a story with a
// status that has no place for its pull request gets one. A story without a
// status tells only whether it passes, which is whether it is merged.
func (f *File) Update(progress map[string]Progress) []byte {
	var edits []edit
	for _, s := range f.Stories {
		if p, ok := progress[s.ID]; ok {
			edits = append(edits, s.edits(f.src, p)...)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(f.src[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(f.src[at:])
	return out.Bytes()
}

// edit puts the text in the place of src[start:end].
type edit struct {
	start, end int
	text       string
}

func (s Story) edits(src []byte, p Progress) []edit {
	var all []edit
	set := func(changed, add bool, text string, keys ...string) {
		m, there := s.node.first(keys...)
		switch {
		case !changed:
		case there:
			all = append(all, edit{m.value.start, m.value.end, text})
		case add:
			all = append(all, s.node.append(src, keys[0], text))
		}
	}
	_, told := s.node.get("status")
	_, passes := s.node.get("passes")
	named := told || !passes
	set(p.Status != s.Status, named, quoted(string(p.Status)), "status")
	if m, ok := s.node.get("passes"); ok {
		done := p.Status == Merged
		set(m.value.value != done, false, strconv.FormatBool(done), "passes")
	}
	number := "null"
	if p.PR > 0 {
		number = strconv.Itoa(p.PR)
	}
	set(p.PR != s.PR, named, number, "prNumber")
	set(p.LastActivityBy != s.LastActivityBy, named, quoted(p.LastActivityBy), "lastActivityBy")
	set(p.Branch != s.Branch && p.Branch != "", false, quoted(p.Branch), "branchName", "branch")
	return all
}

// append adds a member behind the last one, as that one is written.
func (n node) append(src []byte, key, text string) edit {
	last := n.members[len(n.members)-1]
	before := last.start
	for before > n.start && bytes.IndexByte([]byte(" \t\r\n"), src[before-1]) >= 0 {
		before--
	}
	colon := ":"
	if src[last.value.start-1] == ' ' {
		colon = ": "
	}
	end := last.value.end
	return edit{end, end, "," + string(src[before:last.start]) + quoted(key) + colon + text}
}

// quoted is a text as JSON; empty is null.
func quoted(s string) string {
	if s == "" {
		return "null"
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "null" // no text is refused
	}
	return string(text)
}
