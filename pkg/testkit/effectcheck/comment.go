package effectcheck

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// marker is the line that names the instance and the key of a text that a service wrote.
var marker = regexp.MustCompile(`(?m)^<!-- signalbox instance=([^\s>]*) key=([^\s>]*) -->\s*$`)

// parseMarker returns the instance and the key of a text.
func parseMarker(body string) (id, key string, ok bool) {
	m := marker.FindStringSubmatch(strings.ReplaceAll(body, "\r\n", "\n"))
	if m == nil {
		return "", "", false
	}
	id, err := url.QueryUnescape(m[1])
	key, err2 := url.QueryUnescape(m[2])
	return id, key, err == nil && err2 == nil
}

// checkComments checks every comment of the bot in the repository.
func (c *checker) checkComments(r *Repo) {
	type made struct {
		thread  int64
		number  int
		id, key string
	}
	seen := map[made]Comment{}
	for _, comment := range slices.Concat(r.Comments, r.Replies) {
		if comment.Author != c.observed.Bot {
			continue
		}
		kind := "comments"
		if comment.Thread != 0 {
			kind = "replies"
		}
		c.effects[kind]++
		where := cmp.Or(comment.URL, r.address(comment.Number))
		id, key, ok := parseMarker(comment.Body)
		t := c.expected[id]
		if !ok || t == nil {
			c.report(Foreign, id, where, "it carries the mark of no instance of the log: %.80q", comment.Body)
			continue
		}
		if first, twice := seen[made{comment.Thread, comment.Number, id, key}]; twice {
			c.report(Doubled, id, where, "%s was said already in comment %d", key, first.ID)
			continue
		}
		seen[made{comment.Thread, comment.Number, id, key}] = comment
		switch _, meant := t.may[key]; {
		case t.issue.Repo != r.Name || comment.Number != t.issue.Number && strconv.Itoa(comment.Number) != t.vars["prNumber"] &&
			comment.Number != t.pull:
			c.report(Foreign, id, where, "%s stands where the instance is not: its issue is %s#%d", key, t.issue.Repo, t.issue.Number)
		case !meant:
			c.report(Unexplained, id, where, "nothing in the log intends %s", key)
		}
		if comment.Thread == 0 {
			t.matchComment(key, comment.URL)
		}
	}
}

// matchComment marks the comment as found if its address is the recorded one.
func (t *expectation) matchComment(key, at string) {
	if t.urls[key] == "" || sameAddress(t.urls[key], at) {
		delete(t.must, key)
	}
}

// sameAddress compares addresses without their host: a forge may have several names.
func sameAddress(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Path == y.Path && x.Fragment == y.Fragment
}

// others returns the labels that do not show how an issue stands.
func others(labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return slices.Contains(standing, l) })
}

// standing are the labels that show how an issue stands.
var standing = []string{"signalbox:working", "signalbox:waiting", "signalbox:done", "signalbox:failed"}

// checkLabels checks that issues have the labels that they were opened with, in addition to
// those that show their status.
func (c *checker) checkLabels(r *Repo) {
	for _, t := range c.sorted() {
		if t.issue.Repo != r.Name || t.issue.Number == 0 || len(t.issue.Author) == 0 {
			continue // not taken from the forge
		}
		i := slices.IndexFunc(r.Issues, func(i Issue) bool { return i.Number == t.issue.Number })
		if i < 0 {
			c.report(Missing, t.id, r.address(t.issue.Number), "the issue it is about is not there")
			continue
		}
		c.effects["issues"]++
		has, had := slices.Sorted(slices.Values(others(r.Issues[i].Labels))), slices.Sorted(slices.Values(others(t.issue.Labels)))
		if !slices.Equal(has, had) {
			c.report(Label, t.id, r.address(t.issue.Number), "it has the labels %q, and was opened with %q", has, had)
		}
	}
}
