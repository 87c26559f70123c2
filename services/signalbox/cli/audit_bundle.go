package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/bundle"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// bundleFlags are the flags of a log in a file.
type bundleFlags struct {
	Export   string `name:"export" env:"-" type:"path" placeholder:"FILE" help:"Write the log into a bundle, signed with --seal-key, if nothing is wrong: see docs/bundle.md."`
	Instance string `name:"instance" env:"-" placeholder:"ID" help:"Write this instance alone, with the proof that all its commits are there."`
	Bundle   string `name:"bundle" env:"-" type:"existingfile" placeholder:"FILE" help:"Audit a bundle that --sealed-by KEY signed, without any system."`
}

// check refuses flags that do not go together.
func (f bundleFlags) check(s sealFlags, data string) error {
	switch {
	case f.Export != "" && f.Bundle != "":
		return service.Usagef("--export writes a bundle, and --bundle reads one: give one of them")
	case f.Export != "" && s.Key == "":
		return service.Usagef("--export: a bundle is signed; give --seal-key FILE, which is made if it is not there")
	case f.Instance != "" && f.Export == "":
		return service.Usagef("--instance goes with --export FILE")
	case f.Bundle != "" && s.By == "":
		return service.Usagef("--bundle: say with --sealed-by KEY whose bundle it is; the person who exported it knows the key")
	case f.Bundle != "" && (s.File != "" || data != ""):
		return service.Usagef("--bundle reads nothing else: it goes without --seal and --data")
	}
	return nil
}

// exporting writes a bundle while a log is audited. A nil one does nothing.
type exporting struct {
	*bundle.Writer
	half *os.File
	to   string
	err  error
}

// begin begins the bundle. It returns nil without --export.
func (f bundleFlags) begin(identity string, now time.Time) (*exporting, error) {
	if f.Export == "" {
		return nil, nil
	}
	half, err := os.CreateTemp(filepath.Dir(f.Export), "."+filepath.Base(f.Export)+".*")
	if err != nil {
		return nil, err
	}
	e := &exporting{half: half, to: f.Export}
	e.Writer, err = bundle.Create(half, identity, f.Instance, now)
	return e, err
}

// add adds a commit. After an error the bundle is lost, and end returns the error.
func (e *exporting) add(c eventstore.Commit) {
	if e != nil && e.err == nil {
		e.err = e.Add(c)
	}
}

// drop removes what was written, unless end has made a bundle of it.
func (e *exporting) drop() error {
	if e == nil || e.half == nil {
		return nil
	}
	return errors.Join(e.half.Close(), os.Remove(e.half.Name()))
}

// end adds what the commits name, signs the bundle and puts it in its place.
func (e *exporting) end(ctx context.Context, js jetstream.JetStream, known *definitions, s *sealing) error {
	if e.err != nil {
		return e.err
	}
	for _, hash := range slices.Sorted(maps.Keys(e.Names().Definitions)) {
		def, ok := known.find(hash)
		if !ok {
			return fmt.Errorf("the definition %s is in no store", hash)
		}
		if err := e.Definition(hash, def.Source()); err != nil {
			return err
		}
	}
	if err := e.objects(ctx, js); err != nil {
		return err
	}
	if s.file != "" {
		text, err := os.ReadFile(s.file)
		if err == nil {
			err = e.Seal(text)
		}
		if err != nil {
			return err
		}
	}
	if err := e.End(s.signer); err != nil {
		return err
	}
	name := e.half.Name()
	if err := errors.Join(e.half.Sync(), e.half.Close(), os.Rename(name, e.to)); err != nil {
		return err
	}
	e.half = nil
	return nil
}

// objects adds the objects that are still in the store. Verification names the others.
func (e *exporting) objects(ctx context.Context, js jetstream.JetStream) error {
	objects, err := store.OpenObjects(ctx, js, store.ObjectBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(e.Names().Objects)) {
		r, err := objects.Get(ctx, name)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("object %s: %w", name, err)
		}
		info, err := r.Info()
		if err != nil {
			return fmt.Errorf("object %s: %w", name, err)
		}
		sum, err := store.Digest(info)
		if err == nil {
			err = e.Object(name, sum, r)
		}
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("object %s: %w", name, err)
		}
	}
	return nil
}

// auditBundle verifies a bundle and audits its commits.
func (c auditCommand) auditBundle(env *term.Env) error {
	start := env.Now()
	file, err := os.Open(c.Bundle)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	known, err := newCatalog()
	if err != nil {
		return err
	}
	e := auditor{checker: logcheck.New(known.find), order: logcheck.NewOrder(known.find), public: c.By}
	e.checker.Lean = true
	if c.Decisions {
		ended, err := newShelf()
		if err != nil {
			return fmt.Errorf("--decisions: a file for instances that have ended: %w", err)
		}
		defer ended.remove()
		e.decideAgain(known, ended)
	}
	keep := func(hash string, source []byte) {
		if def, err := workflow.LoadHashed(hash, source); err == nil {
			known.catalog.Keep(def)
		}
	}
	found, err := bundle.Verify(file, info.Size(), c.By, keep, func(one eventstore.Commit) error { return e.commit(one) })
	e.endAgain()
	if err != nil {
		return err
	}
	a := e.report(c.Order)
	if found.Instance != "" { // the commits of others are not there
		a.Missing = []logcheck.Gap{}
		a.Violations = slices.DeleteFunc(a.Violations, func(v logcheck.Violation) bool { return v.Rule == logcheck.Sequence })
	}
	a.Stream, a.Identity, a.Last = filepath.Base(c.Bundle), found.Identity, uint64(found.Size)
	a.Bundle = &view.LogBundle{
		Instance: found.Instance, Made: found.Made, Key: c.By, Records: found.Records, Size: found.Size, Instances: found.Instances,
		Objects: len(found.Objects), Absent: found.Missing,
	}
	if found.Seal != nil {
		a.Seal = &view.Seal{Seq: found.Seal.Seq, Time: found.Seal.Time, Key: found.Seal.Key}
	}
	return c.print(env, a, start)
}
