package change

import (
	"slices"
	"strconv"
)

// Fact is what happened to a commit, a branch or a conversation: when a pull request was
// changed does not show it.
type Fact struct {
	Event string
	ID    string // of the fact, however often it is delivered; "" if reading the pull request is enough
	App   string // whose check it is; what ours say is nothing new
	// Keys of the pull request: its number, else the branch it is to be merged into,
	// else its newest commit. The branches are those that the commit is on.
	pulls    []int
	base     string
	sha      string
	branches []string
}

// Head is what a pull request was when it was last read.
type Head struct {
	SHA  string
	Ref  string // "" if it is a branch of another repository
	Base string
	URL  string
}

// Concerns reports whether a fact is of the pull request. sure is false if the pull request
// has to be read first: nothing is known of it, or its branch has moved since.
func (f Fact) Concerns(number int, h Head, known bool) (concerns, sure bool) {
	switch {
	case len(f.pulls) > 0:
		return slices.Contains(f.pulls, number), true
	case !known:
		return false, false
	case f.base != "":
		return h.Base == f.base, true
	case h.SHA == f.sha:
		return true, true
	}
	return false, h.Ref == "" || !slices.Contains(f.branches, h.Ref)
}

// Known is a fact of the pull request of an instance.
type Known struct {
	Fact
	Repo     string
	Number   int    // of the pull request
	URL      string // of that; "" if it was not read
	Instance string
}

// Commands implements Seen.
func (k Known) Commands() []Command {
	data := map[string]string{"pull_request": strconv.Itoa(k.Number), "event": k.Event}
	if k.URL != "" {
		data["url"] = k.URL
	}
	id := digest(16, "%s\x00%s\x00%d\x00%s", k.Instance, k.Repo, k.Number, k.ID)
	return []Command{signal(k.Instance, "changed", "pull/"+id, "gateway", data)}
}
