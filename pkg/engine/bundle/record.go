// Package bundle writes a log, or one instance of it, into one file that anybody verifies without the system: with the
// file and a public key. docs/bundle.md describes the file.
//
// The log is a Merkle tree as in RFC 6962, its signature a signed note of C2SP, both by golang.org/x/mod.
package bundle

import (
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// Record is a commit as a line of JSON.
type Record struct {
	Seq      uint64    `json:"seq"`
	N        int       `json:"n"` // number among the commits of its instance, from 1
	ID       string    `json:"id"`
	Workflow string    `json:"workflow"`
	State    string    `json:"state"`
	Instance string    `json:"instance"`
	Wakes    bool      `json:"wakes"`
	Time     time.Time `json:"time"`
	Prev     uint64    `json:"prev"`
	Data     []byte    `json:"data"` // signalbox.v1.Commit
	Chain    string    `json:"chain"`
	Erased   string    `json:"erased,omitempty"`
}

func recordOf(c eventstore.Commit, n int) Record {
	return Record{c.Seq, n, c.ID, c.Workflow, c.State, c.Instance, c.Wakes, c.Time.UTC(), c.Prev, c.Data, c.Chain, c.Erased}
}

func (r Record) commit() eventstore.Commit {
	return eventstore.Commit{
		Seq: r.Seq, ID: r.ID, Workflow: r.Workflow, State: r.State, Instance: r.Instance, Wakes: r.Wakes, Time: r.Time.UTC(),
		Prev: r.Prev, Data: r.Data, Chain: r.Chain, Erased: r.Erased,
	}
}

// leaf is the text of a leaf of the log. The chain stands for the content, so an erased text leaves it as it is.
func (r Record) leaf() []byte {
	return fmt.Appendf(nil, "%d %d %s %s\n", r.Seq, r.N, r.Chain, r.Instance)
}

// indexLeaf is the text of a leaf of the index: the number of commits of an instance, and the chain of the newest.
func indexLeaf(instance string, h head) []byte {
	return fmt.Appendf(nil, "%d %s %s\n", h.n, h.chain, instance)
}

// head is the newest commit of an instance.
type head struct {
	n     int
	chain string
}

// tree is a Merkle tree in memory: 64 bytes a leaf.
type tree struct {
	leaves int64
	hashes []tlog.Hash
}

// ReadHashes implements tlog.HashReader.
func (t *tree) ReadHashes(at []int64) ([]tlog.Hash, error) {
	all := make([]tlog.Hash, len(at))
	for i, n := range at {
		all[i] = t.hashes[n]
	}
	return all, nil
}

func (t *tree) add(leaf []byte) error {
	more, err := tlog.StoredHashes(t.leaves, leaf, t)
	t.leaves, t.hashes = t.leaves+1, append(t.hashes, more...)
	return err
}

func (t *tree) root() (tlog.Hash, error) { return tlog.TreeHash(t.leaves, t) }
