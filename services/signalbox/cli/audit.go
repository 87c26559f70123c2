package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type auditCommand struct {
	logFlags
	Stream string `name:"stream" env:"-" placeholder:"NAME" help:"Read this stream instead, such as a mirror of the log."`
	sealFlags
	bundleFlags
	Decisions bool `name:"decisions" env:"-" help:"Decide each commit again, too. A commit that this version decides otherwise is a violation; an older version may have decided so."`

	SARIF bool `name:"sarif" env:"-" help:"Print the violations in SARIF 2.1.0, for tools that collect findings."`

	Order bool `name:"order" env:"-" help:"Count a claim past something more urgent as a violation; otherwise it is only reported, as orchestrators that work side by side may each choose the most urgent work they know."`
}

// Help returns the details.
func (auditCommand) Help() string {
	return `Sequences have to count from one without a gap, up to the end of the log by the watermark; each commit to be chained
to its instance's last one; each move to be in the table of the definition the instance is on; claims not to overlap, and
only their holders to report. A message that is no commit is named as alien; nothing follows from it. Each fault is
printed with its sequence, instance and rule, and the reading goes on behind it. Ends with 0 if nothing is wrong, 1 if
something is. Nothing is changed; see docs/recovery.md, "The log is damaged", for the next step.`
}

// Run reads a whole log and prints each violation.
func (c auditCommand) Run(ctx context.Context, env *term.Env) error {
	if err := c.bundleFlags.check(c.sealFlags, c.Data); err != nil {
		return err
	}
	if c.Bundle != "" {
		return c.auditBundle(env)
	}
	return c.openLog(ctx, env, func(ctx context.Context, at logSource) error { return c.auditLog(ctx, env, at) })
}

// auditLog audits the log of a server.
func (c auditCommand) auditLog(ctx context.Context, env *term.Env, at logSource) (err error) {
	start := env.Now()
	sealed, err := c.open(c.Export != "")
	if err != nil {
		return err
	}
	log, err := store.OpenAuditReader(ctx, at.js, c.Stream, store.Config{Watermark: at.watermark})
	if err != nil {
		return fmt.Errorf("the log at %s: %w", at.at, err)
	}
	known, err := newDefinitions(ctx, at.js)
	if err != nil {
		return err
	}
	e := auditor{checker: logcheck.New(known.find), order: logcheck.NewOrder(known.find), seal: sealed}
	e.checker.Lean = true
	if sealed != nil {
		e.public = sealed.public
	}
	if e.bundle, err = c.begin(log.Identity, start); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.bundle.drop()) }()
	if c.Decisions {
		ended, err := newShelf()
		if err != nil {
			return fmt.Errorf("--decisions: a file for instances that have ended: %w", err)
		}
		defer ended.remove()
		e.decideAgain(known, ended)
	}
	shown := showProgress(env, "checked", log.Last)
	err = readAhead(ctx, log, func(m store.Message) error {
		shown.at(m.Seq)
		return e.check(m)
	})
	shown.end()
	e.endAgain()
	if err != nil {
		return err
	}
	e.checker.ReadTo(max(log.Last, log.Expected))
	if e.checker.HasGaps() {
		e.attributeGaps(ctx, env, at.js, log)
	}
	found := e.audit(log, c.Order)
	if len(found.Violations) == 0 && known.err == nil {
		if found.Seal, err = sealed.renew(env.Now()); err != nil {
			return err
		}
		if e.bundle != nil {
			if err := e.bundle.end(ctx, at.js, known, sealed); err != nil {
				return fmt.Errorf("--export: %w", err)
			}
			found.Exported = &view.Exported{File: c.Export, Instance: c.Instance, Key: sealed.public}
		}
	}
	return errors.Join(known.err, c.print(env, found, start))
}

// print prints an audit. A log with violations is an error.
func (c auditCommand) print(env *term.Env, found view.Audit, start time.Time) error {
	found.Seconds = env.Now().Sub(start).Round(time.Millisecond).Seconds()
	show := found.Print
	if c.SARIF {
		show = found.PrintSARIF
	}
	if err := show(env); err != nil {
		return err
	}
	switch n := len(found.Violations); {
	case n > 0 && c.Export != "":
		return fmt.Errorf("the log has %s; no bundle was written", view.Count(n, "violation"))
	case n > 0:
		return fmt.Errorf("the log has %s", view.Count(n, "violation"))
	}
	return nil
}

// auditor checks a log message by message.
type auditor struct {
	checker *logcheck.Checker
	order   *logcheck.Order
	seal    *sealing
	public  string // key that erasures are signed with; empty: each names its own
	erased  map[string]int
	faults  []logcheck.Violation
	bundle  *exporting
	lost    bool        // a gap makes the order of claims unknown
	again   *whatif.Log // nil: no commit is decided again
	cases   []whatif.Case
}

// decideAgain decides each commit again, too.
func (e *auditor) decideAgain(known *definitions, ended *shelf) {
	e.again = whatif.Start(runtime.GOMAXPROCS(0), func(def *workflow.Definition) (*workflow.Definition, error) { return def, nil }, known.find, ended)
}

func (e *auditor) endAgain() {
	if e.again != nil {
		e.cases = e.again.End()
	}
}

// check adds a message to the checkers.
func (e *auditor) check(m store.Message) error {
	c, err := m.Commit()
	e.seal.add(m, c, err)
	if err != nil {
		at, _ := subject.ParseEvent(m.Subject)
		e.checker.Damaged(m.Seq, at.Instance, err)
		return nil
	}
	e.bundle.add(c)
	return e.commit(c)
}

// commit adds a commit to the checkers.
func (e *auditor) commit(c eventstore.Commit) error {
	if c.Erased != "" {
		e.checkErased(c)
	}
	e.checker.Add(c)
	if e.again != nil {
		e.again.Add(c)
	}
	return e.checkOrder(c)
}

// checkErased notes a commit whose texts were erased.
func (e *auditor) checkErased(c eventstore.Commit) {
	if err := seal.CheckErasure(c, e.public); err != nil {
		e.faults = append(e.faults, logcheck.Violation{Seq: c.Seq, Instance: c.Instance, Rule: erased, Text: err.Error()})
		return
	}
	by, _, _ := strings.Cut(c.Erased, " ")
	if e.erased == nil {
		e.erased = map[string]int{}
	}
	e.erased[by]++
}

// checkOrder checks the order of claims as long as the log has no gap.
func (e *auditor) checkOrder(c eventstore.Commit) error {
	e.lost = e.lost || e.checker.HasGaps()
	if !e.lost && e.order.Add(c) != nil {
		e.lost = true // the checker reports it
	}
	return nil
}

// audit returns the result. strict makes claims in the wrong order violations.
func (e *auditor) audit(log *store.AuditReader, strict bool) view.Audit {
	a := e.report(strict)
	a.Stream, a.Identity, a.Created, a.Last, a.Watermark = log.Stream, log.Identity, log.Created, log.Last, log.Expected
	if log.Fault != nil {
		a.Violations = append([]logcheck.Violation{{Rule: logcheck.Identity, Text: log.Fault.Error()}}, a.Violations...)
	}
	a.Violations = append(a.Violations, e.seal.end()...)
	return a
}

// report returns what the checkers found.
func (e *auditor) report(strict bool) view.Audit {
	a := view.Audit{Report: e.checker.Report(), Choices: e.order.Choices, Urgent: e.order.Violations(), Erased: e.erased}
	a.Violations = append(append(a.Violations, e.faults...), e.decisions()...)
	if strict {
		a.Violations = append(a.Violations, a.Urgent...)
	}
	return a
}

// erased is the rule of commits whose texts were erased: the key of the seal signed for what is left.
const erased logcheck.Rule = "erased"

// decision is the rule of commits that are decided again.
const decision logcheck.Rule = "decision"

// decisions returns the first commit of each instance that is decided otherwise.
func (e *auditor) decisions() (all []logcheck.Violation) {
	for _, c := range e.cases {
		if !c.Same() {
			all = append(all, logcheck.Violation{Seq: c.Seq, Instance: c.Instance, Rule: decision, Text: c.Unknown})
		}
	}
	return all
}

// attributeGaps tells the checker which instances the missing commits of a log with gaps
// belong to. It finds them by the counts of subjects, the timers and the newest snapshot. A
// source that cannot be read is skipped.
func (e *auditor) attributeGaps(ctx context.Context, env *term.Env, js jetstream.JetStream, log *store.AuditReader) {
	counts, err := log.Counts(ctx)
	for id, n := range counts {
		e.checker.HasCommits(id, n)
	}
	timers, lookErr := store.OpenAuditReader(ctx, js, subject.TimerStream, store.Config{})
	if lookErr == nil {
		lookErr = timers.Read(ctx, 1, func(m store.Message) error {
			var stay struct{ Entered, Seq uint64 }
			t, err := subject.ParseTimer(m.Subject)
			if err == nil && json.Unmarshal(m.Data, &stay) == nil {
				e.checker.HasCommit(t.Instance, stay.Seq)
				e.checker.HasCommit(t.Instance, stay.Entered)
			}
			return nil
		})
	}
	if err = errors.Join(err, lookErr, e.readSnapshot(ctx, js, log)); err != nil {
		env.Log.Debug("not everything outside the log could be asked", "error", err)
	}
}

// definitions finds definitions by hash: the built-in ones and those in the bucket.
type definitions struct {
	mu      sync.Mutex // of find
	catalog *workflow.Catalog
	get     func(hash string) ([]byte, error)
	missing map[string]bool
	err     error // from reading the bucket, and of what is kept there under a false hash
}

// newDefinitions opens the bucket. Without one it finds the built-in definitions only.
func newDefinitions(ctx context.Context, js jetstream.JetStream) (*definitions, error) {
	d, err := newCatalog()
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, store.DefinitionBucket)
	d.get = func(hash string) ([]byte, error) {
		entry, err := kv.Get(ctx, hash)
		if err != nil {
			return nil, err
		}
		return entry.Value(), nil
	}
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		d.get, err = nothing, nil
	}
	return d, err
}

// newCatalog finds the built-in definitions only.
func newCatalog() (*definitions, error) {
	built, err := workflow.Builtins()
	if err != nil {
		return nil, err
	}
	return &definitions{catalog: workflow.NewCatalog(built...), missing: map[string]bool{}, get: nothing}, nil
}

func nothing(string) ([]byte, error) { return nil, jetstream.ErrKeyNotFound }

// find is a logcheck.Find, safe for concurrent use. It ignores a source that does not have the hash, and says so in err.
func (d *definitions) find(hash string) (*workflow.Definition, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if def, ok := d.catalog.Hashed(hash); ok || d.missing[hash] {
		return def, ok
	}
	source, err := d.get(hash)
	if err != nil {
		if d.missing[hash] = true; !errors.Is(err, jetstream.ErrKeyNotFound) && !errors.Is(err, jetstream.ErrInvalidKey) {
			d.err = errors.Join(d.err, fmt.Errorf("definition %s: %w", hash, err))
		}
		return nil, false
	}
	def, err := workflow.LoadHashed(hash, source)
	if errors.Is(err, workflow.ErrFalseHash) {
		d.err = errors.Join(d.err, err)
	}
	if err != nil || def.Hash != hash {
		d.missing[hash] = true
		return nil, false
	}
	d.catalog.Keep(def)
	return def, true
}

// readSnapshot reads from the newest snapshot which commits each instance had.
func (e *auditor) readSnapshot(ctx context.Context, js jetstream.JetStream, log *store.AuditReader) error {
	index, err := js.KeyValue(ctx, store.SnapshotBucket)
	if err != nil {
		return fmt.Errorf("bucket %s: %w", store.SnapshotBucket, err)
	}
	newest, err := index.Get(ctx, "newest")
	if err != nil {
		return fmt.Errorf("the newest snapshot: %w", err)
	}
	parts, err := store.OpenObjects(ctx, js, store.SnapshotParts)
	if err != nil {
		return fmt.Errorf("object store %s: %w", store.SnapshotParts, err)
	}
	var p pb.Snapshot
	data := newest.Value()
	if err := proto.Unmarshal(data[min(sha256.Size, len(data)):], &p); err != nil {
		return fmt.Errorf("the newest snapshot: %w", err)
	}
	if log.Identity != "" && p.GetLog() != log.Identity {
		return nil
	}
	err = e.readPart(ctx, parts, p.GetLive(), func(block []byte) error {
		var live pb.LiveInstances
		err := proto.Unmarshal(block, &live)
		for _, one := range live.GetInstances() {
			e.checker.HasCommit(one.GetInstance().GetInstance(), one.GetInstance().GetSeq())
		}
		return err
	})
	for _, part := range p.GetEnded() {
		if err != nil {
			return err
		}
		err = e.readPart(ctx, parts, part, func(block []byte) error {
			var ended pb.EndedInstances
			err := proto.Unmarshal(block, &ended)
			for _, one := range ended.GetInstances() {
				e.checker.HasCommit(one.GetInstance(), one.GetSeq())
			}
			return err
		})
	}
	return err
}

// readPart calls f with each block of a part. A block follows its length.
func (e *auditor) readPart(ctx context.Context, parts store.Objects, p *pb.SnapshotPart, f func([]byte) error) error {
	if p == nil {
		return nil
	}
	data, err := parts.GetBytes(ctx, p.GetName())
	for err == nil && len(data) > 0 {
		n, used := binary.Uvarint(data)
		if used <= 0 || n > uint64(len(data)-used) {
			return fmt.Errorf("a block of %s is cut off", p.GetName())
		}
		err = f(data[used : used+int(n)])
		data = data[used+int(n):]
	}
	return err
}
