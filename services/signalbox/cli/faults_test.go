package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// block is a block of the log: the first, or the last, which is not compressed.
func block(n string, change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, msgs string) {
		t.Helper()
		name := filepath.Join(msgs, n+".blk")
		data, err := os.ReadFile(name)
		if err == nil {
			if data = change(data); data == nil {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// flipped changes a bit at an offset from where a text is first.
func flipped(text string, offset int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[bytes.Index(b, []byte(text))+offset] ^= 1
		return b
	}
}

func middle(b []byte) []byte { b[len(b)/2] ^= 1; return b }
func length(b []byte) []byte { b[1] ^= 1; return b }
func half(b []byte) []byte   { return b[:len(b)/2] }
func cut(b []byte) []byte    { return b[:len(b)-100] }
func gone([]byte) []byte     { return nil }
func meta(change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, msgs string) {
		t.Helper()
		name := filepath.Join(filepath.Dir(msgs), "meta.inf")
		data, err := os.ReadFile(name)
		if err == nil {
			if data = change(data); data == nil {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func emptied(up int) func(*testing.T, string) {
	return func(t *testing.T, msgs string) {
		t.Helper()
		for range up {
			msgs = filepath.Dir(msgs)
		}
		if err := os.RemoveAll(msgs); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	cutShort = "a log cut short is there: identity"
	isGone   = "stream EVENTS is gone, want identity"
	all4     = "of acme/widgets/1, acme/widgets/2, acme/widgets/3, acme/widgets/4"
	lastOnes = "sequences 32 to 34 are missing, 3 commits, after 31 of acme/widgets/3, where the log ends; of acme/widgets/1, acme/widgets/2, acme/widgets/4"
	allOfIt  = "sequences 1 to 34 are missing, 34 commits, which is all of the log; "
	oldOnes  = "sequences 1 to 31 are missing, 31 commits, between the beginning and 32 of acme/widgets/4; of acme/widgets/1, acme/widgets/2"
	one32    = "sequence 32 is missing, between 31 of acme/widgets/3 and 33 of acme/widgets/1; of acme/widgets/4"
	hurt32   = "acme/widgets/4: it follows 28, which is missing"
)

// A start from a snapshot reads no more than the rest of the log.
var faults = []fault{
	{"a byte of an old block", block("1", middle), false, "", "sequences 1 to 31 are missing", []string{oldOnes, hurt32}},
	{"a byte of an old block", block("1", middle), true, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"a byte of a payload", block("2", flipped("note 32:", 20)), false, "", "sequences 32 to 32 are missing", []string{one32}},
	{"a byte of a payload", block("2", flipped("note 32:", 20)), true, cutShort, cutShort, []string{lastOnes}},
	{"a byte of a header", block("2", flipped("Sb-Chain", 14)), false, "", "sequences 32 to 32 are missing", []string{one32}},
	{"a byte of a header", block("2", flipped("Sb-Chain", 14)), true, cutShort, cutShort, []string{lastOnes}},
	{"a byte of a record's length", block("2", length), false, cutShort, cutShort, []string{lastOnes}},
	{"a byte of a record's length", block("2", length), true, cutShort, cutShort, []string{lastOnes}},
	{"the end of the last block", block("2", cut), false, "has 33 commits, sequences 1 to 34, want 34 from 1; missing [34]", "missing [34]",
		[]string{"sequence 34 is missing, after 33 of acme/widgets/1, where the log ends; of acme/widgets/2"}},
	{"the end of the last block", block("2", cut), true, cutShort, cutShort, []string{"sequence 34 is missing, after 33 of acme/widgets/1, where the log ends; of acme/widgets/2"}},
	{"half of an old block", block("1", half), false, "", "sequences 1 to 31 are missing", []string{oldOnes, hurt32}},
	{"half of an old block", block("1", half), true, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"an old block", block("1", gone), false, "has 3 commits, sequences 32 to 34, want 34 from 1", "has 3 commits", []string{oldOnes, hurt32}},
	{"an old block", block("1", gone), true, "has 3 commits, sequences 32 to 34, want 34 from 1", "has 3 commits", []string{oldOnes, hurt32}},
	{"the last block", block("2", gone), false, "has 31 commits, sequences 1 to 34, want 34 from 1; missing [32 33 34]", "missing [32 33 34]", []string{lastOnes}},
	{"the last block", block("2", gone), true, cutShort, cutShort, []string{lastOnes}},
	{"the stream's meta", meta(gone), false, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"a byte of the stream's meta", meta(middle), false, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"the stream", emptied(1), false, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"the whole store", emptied(4), false, isGone, isGone, []string{isGone, allOfIt + "nothing tells of which instances"}},
}
