package cli

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type exportCommand struct {
	logFlags
	JSONL bool `name:"jsonl" env:"-" xor:"form" required:"" help:"One object of JSON a line, as history --json has them."`
	CSV   bool `name:"csv" env:"-" xor:"form" required:"" help:"Comma-separated values with a line of names: the fields that each event has."`
}

// Help returns the details.
func (exportCommand) Help() string {
	return `Prints each event of the log in its order. A message that is no commit is left out. A damaged one ends the export, with 1:
see signalbox audit.`
}

// columns are the names of the fields in CSV.
var columns = []string{"seq", "time", "instance", "event", "from", "to", "actor", "state", "role", "agent", "reason"}

// Run prints the events of a log.
func (c exportCommand) Run(ctx context.Context, env *term.Env) error {
	return c.openLog(ctx, env, func(ctx context.Context, at logSource) error {
		log, err := store.OpenAuditReader(ctx, at.js, "", store.Config{Watermark: at.watermark})
		if err != nil {
			return fmt.Errorf("the log at %s: %w", at.at, err)
		}
		out := bufio.NewWriterSize(env.Stdout, 1<<16)
		write, flush := jsonLines(out), out.Flush
		if c.CSV {
			if write, flush, err = csvLines(out); err != nil {
				return err
			}
		}
		collectSeldom()
		decoded := make(chan []entry, 4)
		both, ctx := errgroup.WithContext(ctx)
		both.Go(func() error { return decodeLog(ctx, log, decoded) })
		both.Go(func() error { return writeEvents(decoded, write) })
		return errors.Join(both.Wait(), flush())
	})
}

// entry is a commit of the log.
type entry struct {
	instance string
	commit   instance.Commit
}

// entries is how many commits are handed over at a time.
const entries = 256

// decodeLog sends the commits of a log while those before are written. All that come before a fault are sent.
func decodeLog(ctx context.Context, log *store.AuditReader, to chan<- []entry) error {
	defer close(to)
	var next []entry
	err := log.Read(ctx, 1, func(m store.Message) error {
		stored, err := m.Commit()
		if err != nil || stored.Foreign != nil {
			return err
		}
		commit, err := wire.ToCommit(stored)
		if err != nil {
			return fmt.Errorf("commit %d: %w", m.Seq, err)
		}
		if next = append(next, entry{stored.Instance, commit}); len(next) == entries {
			to <- next
			next = make([]entry, 0, entries)
		}
		return nil
	})
	to <- next
	return err
}

// writeEvents writes the events of commits. After a fault it takes the rest and writes none.
func writeEvents(from <-chan []entry, write func(view.Event) error) (err error) {
	states := map[string]string{}
	for some := range from {
		for _, c := range some {
			for _, e := range view.Events(c.instance, states[c.instance], c.commit) {
				states[c.instance] = e.State
				if err == nil {
					err = write(e)
				}
			}
		}
	}
	return err
}

// jsonLines returns a function that writes an event as a line of JSON.
func jsonLines(out io.Writer) func(view.Event) error {
	e := json.NewEncoder(out)
	return func(one view.Event) error { return e.Encode(one) }
}

// csvLines writes the names, and returns functions that write an event, and end the output.
func csvLines(out *bufio.Writer) (write func(view.Event) error, flush func() error, err error) {
	w := csv.NewWriter(out)
	err = w.Write(columns)
	write = func(e view.Event) error {
		return w.Write([]string{strconv.FormatUint(e.Seq, 10), e.Time.UTC().Format(time.RFC3339Nano), e.Instance, e.Event, e.From, e.To, e.Actor,
			e.State, e.Role, e.Agent, inert(e.Reason)})
	}
	return write, func() error { w.Flush(); return errors.Join(w.Error(), out.Flush()) }, err
}

// inert keeps a spreadsheet from running a text of others as a formula.
func inert(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@' || s[0] == '\t' || s[0] == '\r') {
		return "'" + s
	}
	return s
}
