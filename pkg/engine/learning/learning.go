// Package learning is what agents and people noted of a repository, for those who work on
// it next: which notes there are, which of them count, and which fit a piece of work.
//
// The notes of a repository are those of one instance, its record. The list is the fold
// of that instance's commits.
package learning

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kinds of the notes that are about learnings.
const (
	Noted     = "learning"           // the text is one
	Confirmed = "learning-confirmed" // a person confirms those of the ids
	Dropped   = "learning-removed"   // a person removes them
	Used      = "learning-used"      // they were in a prompt
)

// IsKind reports whether a note of the kind is about learnings.
func IsKind(kind string) bool {
	switch kind {
	case Noted, Confirmed, Dropped, Used:
		return true
	}
	return false
}

// Workflow is the lifecycle of records.
const Workflow = "learnings"

// Record returns the id of the instance that keeps the learnings of a repository.
func Record(repo string) string { return repo + "/" + Workflow }

// Repo returns the repository that an instance keeps the learnings of. ok is false if its
// id is not one of a record.
func Repo(id string) (repo string, ok bool) {
	repo, ok = strings.CutSuffix(id, "/"+Workflow)
	return repo, ok && repo != ""
}

// State is whether a learning counts.
type State string

const (
	StateProposed  State = "proposed"  // nothing has confirmed it
	StateConfirmed State = "confirmed" // by a person, or by work that ended well
	StateAged      State = "aged"      // nothing confirmed or used it for MaxAge
	StateDisplaced State = "displaced" // there are MaxKept that go before it
	StateRemoved   State = "removed"   // by a person
)

const (
	// MaxText limits the characters of a learning.
	MaxText = 500
	// MaxPath limits the bytes of its path.
	MaxPath = 200
	// MaxKept limits the learnings of a repository that count.
	MaxKept = 100
	// MaxAge is how long one counts that nothing confirms or uses.
	MaxAge = 90 * 24 * time.Hour
	// maxUses limits the instances that are remembered to have used one.
	maxUses = 20
)

// Learning is one thing that was learned of a repository.
type Learning struct {
	ID   string // of its path and text, without case and spaces
	Path string // file or directory that it is about; empty: the whole repository
	Text string // one line

	By       string // the actor who proposed it
	Instance string // where it was learned; empty: nowhere, by a person
	Trusted  bool   // there only people spoke who may write to the repository
	At       time.Time

	State       State
	ConfirmedBy string // the person who last did; empty: none
	ConfirmedAt time.Time
	Used        []string // the newest instances in whose prompts it was
	UsedAt      time.Time
	Successes   []string // those of them that ended well
	RemovedBy   string
	RemovedAt   time.Time
}

// Counts reports whether a prompt may have it, as the state says.
func (l Learning) Counts() bool { return l.State == StateProposed || l.State == StateConfirmed }

// last returns when it was last proposed, confirmed or, if it is confirmed, used.
func (l Learning) last() time.Time {
	last := l.At
	if l.ConfirmedAt.After(last) {
		last = l.ConfirmedAt
	}
	if l.confirmed() && l.UsedAt.After(last) {
		last = l.UsedAt
	}
	return last
}

// confirmed reports whether a person confirmed it, or work that ended well. The latter
// does not make up for strangers.
func (l Learning) confirmed() bool {
	return l.ConfirmedBy != "" || l.Trusted && len(l.Successes) > 0
}

// ErrInvalid marks a path or a text that no learning may have. Its text is for people.
var ErrInvalid = errors.New("not a learning")

// Clean returns a path and a text as they are kept, or an ErrInvalid.
func Clean(file, text string) (cleanPath, cleanText string, err error) {
	text = strings.Join(strings.Fields(text), " ")
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", "", fmt.Errorf("%w: its text is empty: say what the next one should know", ErrInvalid)
	case n > MaxText:
		return "", "", fmt.Errorf("%w: its text has %d characters, want at most %d: one fact, in a sentence or two", ErrInvalid, n, MaxText)
	}
	file = strings.TrimSpace(file)
	if file == "" {
		return "", text, nil
	}
	clean := path.Clean(file)
	switch {
	case clean == ".":
		clean = ""
	case path.IsAbs(clean), clean == "..", strings.HasPrefix(clean, "../"):
		return "", "", fmt.Errorf("%w: %q is outside the repository: want a file or directory from its root, such as pkg/api", ErrInvalid, shortened(file))
	case len(clean) > MaxPath:
		return "", "", fmt.Errorf("%w: the path %q has %d bytes, want at most %d", ErrInvalid, shortened(file), len(clean), MaxPath)
	case strings.ContainsFunc(clean, func(r rune) bool { return !unicode.IsPrint(r) }), strings.ContainsAny(clean, "*?[\\"):
		return "", "", fmt.Errorf("%w: the path %q has characters that none may: want the name of a file or directory, without wildcards", ErrInvalid, shortened(file))
	}
	return clean, text, nil
}

func shortened(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "…"
}

// ID returns the id of a learning. One that only differs in case and spaces, or in the
// point at its end, has the same.
func ID(file, text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	sum := sha256.Sum256([]byte(file + "\x00" + strings.TrimRight(text, ".!; ")))
	return hex.EncodeToString(sum[:4])
}
