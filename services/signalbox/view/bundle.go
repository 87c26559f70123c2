package view

import (
	"fmt"
	"strings"
	"time"
)

// Exported is a bundle that was written.
type Exported struct {
	File     string `json:"file"`
	Instance string `json:"instance,omitempty"` // empty: the whole log
	Key      string `json:"key"`                // public key that it is signed with
}

// String shows how to audit the bundle.
func (e Exported) String() string {
	return fmt.Sprintf("%s; signalbox audit --bundle %s --sealed-by %s", e.File, e.File, e.Key)
}

// LogBundle is a bundle whose signature, hashes and proofs hold.
type LogBundle struct {
	Instance  string    `json:"instance,omitempty"` // empty: the whole log
	Made      time.Time `json:"made"`
	Key       string    `json:"key"` // public key that signed it
	Records   int       `json:"records"`
	Size      int64     `json:"size"`      // commits of the log
	Instances int64     `json:"instances"` // of the log
	Objects   int       `json:"objects"`
	Absent    []string  `json:"absent,omitempty"` // objects that the records name and that are not in it
}

// print prints what the bundle has, what that proves, and what it does not.
func (b LogBundle) print(p page) {
	p.field("signed", fmt.Sprintf("by %s, made %s", b.Key, b.Made.Format(time.RFC3339)))
	p.field("of", fmt.Sprintf("a log with %s of %s", Count(int(b.Size), "commit"), Count(int(b.Instances), "instance")))
	objects := fmt.Sprintf("%d, each with its hash", b.Objects)
	if n := len(b.Absent); n > 0 {
		objects += fmt.Sprintf("; %d more were in no store: %s", n, strings.Join(b.Absent[:min(n, 3)], ", "))
	}
	p.field("objects", objects)
	if b.Instance == "" {
		p.field("proven", "these are all commits of the log that was signed, in their order")
		p.field("not proven", "that the log was not written again before the key first signed it")
		return
	}
	p.field("proven", fmt.Sprintf("these are all %s of %s by the index that was signed, in their order", Count(b.Records, "commit"), b.Instance))
	p.field("not proven", "that the index is that of the log: audit the bundle of the whole log; anything of other instances")
}
