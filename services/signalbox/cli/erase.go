package cli

import (
	"fmt"
	"os"

	"github.com/signalbox/signalbox/pkg/engine/erasure"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type eraseCommand struct {
	Dir      string `arg:"" name:"dir" type:"existingdir" help:"The backup."`
	To       string `arg:"" name:"to" type:"path" help:"The backup without the texts; an empty directory, or none yet."`
	Person   string `name:"person" env:"-" xor:"whose" required:"" placeholder:"NAME" help:"Erase this name of the forge everywhere, and the texts that the person wrote."`
	Instance string `name:"instance" env:"-" xor:"whose" required:"" placeholder:"ID" help:"Erase all texts of this instance."`
	Key      string `name:"seal-key" env:"-" required:"" type:"path" placeholder:"FILE" help:"The key of the seal. It signs for what is left."`
}

// Help returns the details.
func (eraseCommand) Help() string {
	return `The chains stay, so a seal and a bundle of before hold. The prompts and the output of the instances that change are left
out. Make the log from the new backup with signalbox restore, and delete the old backup and the old store. docs/bundle.md
lists what stays.`
}

// Run writes a backup without the texts of a person or an instance.
func (c eraseCommand) Run(env *term.Env) error {
	wish := erasure.Instance(c.Instance)
	if c.Person != "" {
		wish = erasure.Person(c.Person)
	}
	s := &sealing{}
	if _, err := os.Stat(c.Key); err != nil { // one that is made now would be of no seal
		return service.Usagef("--seal-key: %w", err)
	}
	if err := s.readKey(c.Key); err != nil {
		return service.Usagef("--seal-key: %w", err)
	}
	e := eraser{wish: wish, key: s, open: map[string]bool{}, changed: map[string]int{}, artifacts: map[string][]string{}}
	m, err := backup.Copy(c.Dir, c.To, e.erase, e.drops)
	if err != nil {
		return err
	}
	commits := 0
	for _, n := range e.changed {
		commits += n
	}
	return view.Erased{Dir: c.To, Commits: commits, Instances: len(e.changed), Open: e.opened(), Objects: e.dropped, Last: m.Last, Key: s.public}.Print(env)
}

// eraser erases in the messages of a log.
type eraser struct {
	wish      erasure.Wish
	key       *sealing
	open      map[string]bool     // by instance
	changed   map[string]int      // commits by instance
	artifacts map[string][]string // objects by instance
	goes      map[string]bool     // objects; nil: not known yet
	dropped   int
}

func (e *eraser) erase(m store.Message) (store.Message, error) {
	c, err := m.Commit()
	if err != nil || c.Foreign != nil {
		return m, err
	}
	commit, err := wire.ToCommit(c)
	if err != nil {
		return m, err
	}
	e.follow(c.Instance, commit)
	data, changed, err := e.wish.Erase(c)
	if err != nil || !changed {
		return m, err
	}
	e.changed[c.Instance]++
	c.Data = data
	by, err := seal.SignErasure(c, e.key.signer)
	if err != nil {
		return m, fmt.Errorf("sign for commit %d: %w", c.Seq, err)
	}
	m.Data = data
	m.Header.Set(store.HeaderErased, by)
	return m, nil
}

// follow notes whether an instance is open, and its artifacts.
func (e *eraser) follow(id string, c instance.Commit) {
	for _, event := range c.Events {
		switch event := event.(type) {
		case instance.Opened, instance.Reopened:
			e.open[id] = true
		case instance.CancelledBy:
			delete(e.open, id)
		case instance.Moved:
			if event.Kind == workflow.Final {
				delete(e.open, id)
			}
		case instance.Reported:
			e.keep(id, event.Result.Artifacts)
		case instance.Handed:
			e.keep(id, event.Artifacts)
		}
	}
}

func (e *eraser) keep(id string, all []instance.Artifact) {
	for _, a := range all {
		e.artifacts[id] = append(e.artifacts[id], a.Object)
	}
}

// drops reports whether an object is the output or a prompt of an instance that changed. All messages were read before.
func (e *eraser) drops(object string) bool {
	if e.goes == nil {
		e.goes = map[string]bool{}
		for id := range e.changed {
			for _, name := range e.artifacts[id] {
				e.goes[name] = true
			}
		}
	}
	if e.goes[object] {
		e.dropped++
	}
	return e.goes[object]
}

// opened counts the instances that changed and are open.
func (e *eraser) opened() (n int) {
	for id := range e.changed {
		if e.open[id] {
			n++
		}
	}
	return n
}
