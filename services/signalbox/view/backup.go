package view

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Backup is the JSON of `backup` and `restore`.
type Backup struct {
	Dir         string    `json:"dir"`
	Identity    string    `json:"identity"` // of the log
	Made        time.Time `json:"made"`
	Commits     uint64    `json:"commits"` // also the last sequence
	Chunks      int       `json:"chunks"`
	Definitions int       `json:"definitions"`
	Objects     int       `json:"objects"`
	Bytes       int64     `json:"bytes"`
	Head        string    `json:"head"` // SHA-256 of the chains of all commits
	Seal        *Seal     `json:"seal,omitempty"`
	Says        string    `json:"says"`
}

// Kept prints the content of a backup and the result of the command.
func Kept(env *term.Env, dir string, m backup.Manifest, says string) error {
	b := Backup{Dir: dir, Identity: m.Identity, Made: m.Made, Commits: m.Last, Chunks: len(m.Chunks), Objects: len(m.Objects), Head: m.Head,
		Says: says}
	for _, c := range m.Chunks {
		b.Bytes += c.Bytes
	}
	for _, o := range m.Objects {
		b.Bytes += o.Bytes
	}
	for _, k := range m.Buckets {
		b.Bytes += k.Bytes
		if k.Name != backup.Cursors {
			b.Definitions = k.Keys
		}
	}
	if m.Seal != nil {
		b.Seal = &Seal{Seq: m.Seal.Seq, Key: m.Seal.Key}
	}
	if env.JSON {
		return env.Print(b)
	}
	p := page{env}
	p.field("backup", dir)
	p.field("of", fmt.Sprintf("the log %s, %s", b.Identity, b.Made.Format(time.RFC3339)))
	p.field("has", fmt.Sprintf("%s in %s, %s, %s, %d bytes", Count(int(b.Commits), "commit"), Count(b.Chunks, "chunk"),
		Count(b.Definitions, "definition"), Count(b.Objects, "object"), b.Bytes))
	p.field("head", b.Head)
	if b.Seal != nil {
		p.field("seal", fmt.Sprintf("up to %d, by %s", b.Seal.Seq, b.Seal.Key))
	}
	p.field("result", says)
	return nil
}
