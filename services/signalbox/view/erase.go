package view

import (
	"fmt"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Erased is the JSON of `erase`.
type Erased struct {
	Dir       string `json:"dir"`
	Commits   int    `json:"commits"` // that lost a text or a name
	Instances int    `json:"instances"`
	Open      int    `json:"open"`    // instances among them that have not ended
	Objects   int    `json:"objects"` // that are not in the new backup
	Last      uint64 `json:"last"`    // sequence of the newest commit
	Key       string `json:"key"`     // public key that signed for what is left
}

// Print prints what was erased, and the next steps.
func (e Erased) Print(env *term.Env) error {
	if env.JSON {
		return env.Print(e)
	}
	p := page{env}
	p.field("erased", fmt.Sprintf("texts of %s of %s, and %s", Count(e.Commits, "commit"), Count(e.Instances, "instance"), Count(e.Objects, "object")))
	if e.Open > 0 {
		p.field("open", fmt.Sprintf("%s of them: agents go on without these texts", Count(e.Open, "instance")))
	}
	p.field("signed", "by "+e.Key)
	p.field("next", fmt.Sprintf("signalbox restore %s --data NEW; then delete the old backup and the old store", e.Dir))
	return nil
}
