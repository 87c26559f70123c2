package change

import "slices"

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
