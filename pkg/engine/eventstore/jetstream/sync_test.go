package jetstream

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

// That a commit is on disk before anyone sees it is not taken from the server's
// word: its system calls are watched.
func TestWhatIsSeenWasFlushed(t *testing.T) {
	if out, err := exec.Command("strace", "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("no process can be traced here: strace: %v %s", err, out)
	}
	binary := programtest.NATSServer(t)
	for _, c := range []struct {
		name, sync string
		flushed    bool
	}{
		{"before, where each write is flushed", "always", true},
		{"later, in the default mode", `"1h"`, false}, // else this test could not fail
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace")
			server := natstest.StartProcess(t, binary, c.sync, "strace", "-f", "-y", "-s", "200000", "-o", file,
				"-e", "trace=write,writev,sendto,sendmsg,pwrite64,pwritev,fsync,fdatasync", "-e", "signal=none")
			commits := writeSome(t, server)
			server.Stop()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got trace
			got.read(t, string(text))
			for _, commit := range commits {
				flushed, ok := got.acked[commit.Seq]
				if !ok {
					t.Fatalf("no acknowledgement of sequence %d was seen", commit.Seq)
				}
				if slices.Contains(flushed, commit.Instance) != c.flushed {
					t.Errorf("sequence %d of %s, when it was acknowledged: flushed %v, want %v", commit.Seq, commit.Instance, !c.flushed, c.flushed)
				}
			}
			if c.flushed != (len(got.early) == 0) {
				t.Errorf("delivered before they were flushed: %v", got.early)
			}
		})
	}
}

// writeSome appends three commits alone and a batch, while a person reads.
func writeSome(t *testing.T, server *natstest.Process) []eventstore.Commit {
	t.Helper()
	s, err := Open(t.Context(), server.JetStream(t), Config{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	tail := eventstoretest.Follow(t, s, 1)
	tail.CaughtUp(t)
	g := &groupCommit{batch: s.publishBatch}
	s.append = g.append
	var alone []eventstore.Commit
	for i := range 3 {
		name := "alone-" + strconv.Itoa(i)
		alone = append(alone, eventstoretest.Put(t, s, eventstoretest.Next(name, name, eventstore.Commit{})))
	}
	crowd := openings(2 * minBatch)
	if err := errors.Join(together(t, s, g, crowd)...); err != nil {
		t.Fatal(err)
	}
	if len(batches(t, s)) != 1 {
		t.Fatal("they were not sent together")
	}
	all := append(alone, crowd...)
	for range all {
		tail.Next(t)
	}
	return all
}

// trace is what the server was seen to do: whose commits it had flushed to the
// log when it acknowledged a sequence, and whose it delivered before.
type trace struct {
	acked map[uint64][]string
	early []string
}

var (
	// In a header: what follows the subject itself may look like a part of it.
	ofInstance = regexp.MustCompile(`sb\.evt\.\*\.\*\.\*\.([-a-z0-9]+)\\r`)
	answer     = regexp.MustCompile(`\{\\"stream\\":\\"EVENTS\\",\\"seq\\":(\d+)(?:,\\"batch\\":\\"\w+\\",\\"count\\":(\d+))?\}`)
	joint      = regexp.MustCompile(`", iov_len=\d+\}, \{iov_base="`) // of two buffers of one call
	inLog      = regexp.MustCompile(`<[^>]*/EVENTS/msgs/[^>]*>`)
)

// read reads the output of strace. A call that another thread interrupts is two
// lines: a flush ends with the second and covers what was written by the first.
func (r *trace) read(t *testing.T, text string) {
	t.Helper()
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	r.acked = map[uint64][]string{}
	var written, flushed []string
	begun := map[string]int{}
	for line := range strings.Lines(text) {
		thread, call, _ := strings.Cut(line, " ")
		call = joint.ReplaceAllString(strings.TrimLeft(call, " "), "")
		name, _, _ := strings.Cut(call, "(")
		switch {
		case strings.HasPrefix(name, "pwrite") && inLog.MatchString(call):
			for _, m := range ofInstance.FindAllStringSubmatch(call, -1) {
				written = append(written, m[1])
			}
		case (name == "fsync" || name == "fdatasync") && inLog.MatchString(call):
			if begun[thread] = len(written); !strings.Contains(call, "<unfinished") {
				flushed = written[:len(written):len(written)]
				delete(begun, thread)
			}
		case strings.HasPrefix(call, "<... fsync resumed") || strings.HasPrefix(call, "<... fdatasync resumed"):
			flushed = written[:max(begun[thread], len(flushed))]
			delete(begun, thread)
		case strings.HasPrefix(name, "write") || strings.HasPrefix(name, "send"):
			for _, m := range answer.FindAllStringSubmatch(call, -1) {
				last, count := number(m[1]), uint64(1)
				if m[2] != "" {
					count = number(m[2])
				}
				for seq := last - count + 1; seq <= last; seq++ {
					r.acked[seq] = slices.Clone(flushed)
				}
			}
			for _, m := range ofInstance.FindAllStringSubmatch(call, -1) {
				if !slices.Contains(flushed, m[1]) {
					r.early = append(r.early, m[1])
				}
			}
		}
	}
}

func TestATraceIsReadRight(t *testing.T) {
	const put, flush, ack = `1 pwrite64(9</d/EVENTS/msgs/1.blk>, "x Subject: sb.evt.*.*.*.a\r\n", 9, 0) = 9` + "\n", "1 fsync(9</d/EVENTS/msgs/1.blk>) = 0\n", `2 writev(8<socket:[1]>, [{iov_base="MSG x {\"stream\":\"EVENTS\",\"seq\":7}\r\n"}], 1) = 9` + "\n"
	const halves = `2 writev(8<socket:[1]>, [{iov_base="MSG x {\"stream\":\"EVE", iov_len=9}, {iov_base="NTS\",\"seq\":7}\r\n", iov_len=9}], 2) = 9` + "\n"
	const begin, elsewhere, end = "1 fsync(9</d/EVENTS/msgs/1.blk> <unfinished ...>\n", "3 fsync(4</d/EVENTS/batches/x/msgs/1.blk>) = 0\n", "1 <... fsync resumed>) = 0\n"
	for name, c := range map[string]struct {
		text    string
		flushed bool
	}{
		"flushed":                       {put + flush + ack, true},
		"answered in two buffers":       {put + flush + halves, true},
		"not flushed":                   {put + ack + flush, false},
		"flushed before it was written": {flush + put + ack, false},
		"flushed somewhere else":        {put + elsewhere + ack, false},
		"a flush that took its time":    {put + begin + end + ack, true},
		"a flush that had not ended":    {put + begin + ack + end, false},
		"written while it was flushed":  {begin + put + end + ack, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r trace
			if r.read(t, c.text); slices.Contains(r.acked[7], "a") != c.flushed || len(r.acked) != 1 {
				t.Fatalf("got %v, want flushed %v", r.acked, c.flushed)
			}
		})
	}
}
