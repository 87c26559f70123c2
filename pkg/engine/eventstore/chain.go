package eventstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// NextChain returns the Chain of c, which follows a commit whose Chain is prev;
// prev is empty when c opens its instance.
//
// It is the hex SHA-256 of netstrings ("5:hello,"). They are prev, ID, workflow, state,
// instance, "work" or "note" (whether it wakes), time, Prev in decimal, and data. The time
// is in RFC 3339 with nanoseconds in UTC. Seq and Trace are outside it.
func NextChain(prev string, c Commit) string {
	kind := "note"
	if c.Wakes {
		kind = "work"
	}
	var at [len(time.RFC3339Nano)]byte
	var seq [20]byte
	b := make([]byte, 0, 2<<10) // most commits fit, and nothing is allocated
	b = netstring(b, prev)
	b = netstring(b, c.ID)
	b = netstring(b, c.Workflow)
	b = netstring(b, c.State)
	b = netstring(b, c.Instance)
	b = netstring(b, kind)
	b = netstring(b, c.Time.UTC().AppendFormat(at[:0], time.RFC3339Nano))
	b = netstring(b, strconv.AppendUint(seq[:0], c.Prev, 10))
	b = netstring(b, c.Data)
	sum := sha256.Sum256(b)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

func netstring[T string | []byte](b []byte, field T) []byte {
	b = strconv.AppendInt(b, int64(len(field)), 10)
	b = append(b, ':')
	b = append(b, field...)
	return append(b, ',')
}

// VerifyChain checks all commits of one instance, oldest first: each names the
// one before it and is chained to it. The error is ErrCorrupt and says at which
// sequence the history breaks and why.
func VerifyChain(commits []Commit) error {
	var v Verifier
	for _, c := range commits {
		if c.Instance != commits[0].Instance {
			return broken(c, "it is of another instance, want %q", commits[0].Instance)
		}
		if err := v.Add(c); err != nil {
			return err
		}
	}
	return nil
}

// Verifier checks the histories of many instances as the log is read from its
// beginning. The zero Verifier is ready. It is not safe for concurrent use.
type Verifier struct {
	heads map[string]head
}

type head struct {
	seq   uint64
	chain string
}

// Add checks the next commit of its instance. After an error, which is
// ErrCorrupt, the instance is taken up again at c, so that one break is
// reported once.
func (v *Verifier) Add(c Commit) error {
	if v.heads == nil {
		v.heads = make(map[string]head)
	}
	last := v.heads[c.Instance]
	v.heads[c.Instance] = head{c.Seq, c.Chain}
	if c.Prev != last.seq {
		return broken(c, "it follows %d, want %d, the instance's previous commit", c.Prev, last.seq)
	}
	if c.Seq <= last.seq {
		return broken(c, "it comes after %d", last.seq)
	}
	if !Follows(last.chain, c) {
		return broken(c, "its chain is %.12q, its content gives %.12q", c.Chain, NextChain(last.chain, c))
	}
	return nil
}

// Follows reports whether the chain of c is that of a commit after one whose Chain is prev. The chain of a commit whose
// texts were erased is taken as it is: its content is gone.
func Follows(prev string, c Commit) bool { return c.Erased != "" || c.Chain == NextChain(prev, c) }

func broken(c Commit, format string, args ...any) error {
	return fmt.Errorf("%w: sequence %d of %q: %s", ErrCorrupt, c.Seq, c.Instance, fmt.Sprintf(format, args...))
}
