package wire_test

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// golden.txt is what the build of commit 42d5950 wrote: of each message
// its bytes and, after "--", what the fields of the core were. It is never
// written again: logs, snapshots and agents out there have these bytes. Where the
// core renames a field, its name changes here.
//
//go:embed testdata/golden.txt
var golden string

type stone struct {
	name   string
	data   []byte
	fields string
}

func stones(t *testing.T) []stone {
	t.Helper()
	var all []stone
	for _, part := range strings.Split(golden, "== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		text, fields, _ := strings.Cut(rest, "--\n")
		data, err := hex.DecodeString(strings.ReplaceAll(text, "\n", ""))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stone{name, data, fields})
	}
	return all
}

func stoneOf(t *testing.T, name string) stone {
	t.Helper()
	for _, s := range stones(t) {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("there is no %s", name)
	return stone{}
}

// fields lists the fields of v that are not zero, one a line.
func fields(v any) string {
	var b strings.Builder
	dump(&b, "", reflect.ValueOf(v))
	return b.String()
}

func dump(b *strings.Builder, path string, v reflect.Value) {
	if v.IsZero() {
		return
	}
	switch x := v.Interface().(type) {
	case time.Time:
		fmt.Fprintf(b, "%s = %s\n", path, x.Format(time.RFC3339Nano))
		return
	case time.Duration:
		fmt.Fprintf(b, "%s = %s\n", path, x)
		return
	case instance.Past:
		fmt.Fprintf(b, "%s = %q\n", path, x.Slice())
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			dump(b, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Pointer:
		dump(b, path, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			dump(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.String:
		fmt.Fprintf(b, "%s = %q\n", path, v.String())
	default:
		fmt.Fprintf(b, "%s = %v\n", path, v.Interface())
	}
}

func TestEventsOfAnEarlierBuildAreReadAndWrittenAsItDid(t *testing.T) {
	known := map[string]bool{}
	for _, e := range events(t) {
		known[reflect.TypeOf(e).Name()] = true
	}
	n := 0
	for _, s := range stones(t) {
		kind, event := strings.CutPrefix(s.name, "event ")
		if !event {
			continue
		}
		n++
		t.Run(kind, func(t *testing.T) {
			c, err := wire.ToCommit(stored(s.data))
			if err != nil || len(c.Events) != 1 || c.Actor != "ann" {
				t.Fatalf("it is read as %+v, %v", c, err)
			}
			if got := reflect.TypeOf(c.Events[0]).Name(); got != kind || !known[kind] {
				t.Errorf("it is read as a %s", got)
			}
			alike(t, s.fields, fields(c.Events[0]))
			if data, err := wire.Events(c.Actor, c.Events); err != nil || !bytes.Equal(data, s.data) {
				t.Errorf("it is written as\n%x, want\n%x (%v)", data, s.data, err)
			}
		})
	}
	if n != 28 {
		t.Errorf("there are %d events, want 28", n)
	}
	whole := stoneOf(t, "commit")
	c, err := wire.ToCommit(stored(whole.data))
	if err != nil || len(c.Events) != n {
		t.Fatalf("a commit of all has %d events, %v", len(c.Events), err)
	}
	if data, err := wire.Events(c.Actor, c.Events); err != nil || !bytes.Equal(data, whole.data) {
		t.Errorf("a commit of all is written as\n%x, want\n%x (%v)", data, whole.data, err)
	}
}

// same reports an error unless m is encoded as the data says, field for field.
func same[M proto.Message](t *testing.T, data []byte, m, decoded M) {
	t.Helper()
	if err := proto.Unmarshal(data, decoded); err != nil || !proto.Equal(m, decoded) {
		t.Errorf("it is\n%v, want\n%v (%v)", m, decoded, err)
	}
}

func TestInstancesOfAnEarlierBuildAreReadAndWrittenAsItDid(t *testing.T) {
	block := new(pb.LiveInstances)
	live := stoneOf(t, "snapshot live")
	if err := proto.Unmarshal(live.data, block); err != nil || len(block.Instances) != 2 {
		t.Fatalf("a block of a snapshot is %v, %v", block, err)
	}
	in := wire.ToLive(block.Instances[0])
	alike(t, live.fields, fields(in))
	p := wire.Live(in)
	p.Head, p.Taken, p.Given, p.Rests = []byte("head"), []uint64{1, 2}, []uint64{3}, wire.Stamp(in.OpenedAt)
	same(t, live.data, &pb.LiveInstances{Instances: []*pb.LiveInstance{p, wire.Live(instance.Instance{ID: "i-2"})}}, &pb.LiveInstances{})
	headers, err := wire.Headers(live.data)
	if err != nil || len(headers) != 2 || headers[0].ID != in.ID || headers[1].ID != "i-2" || !headers[0].Given {
		t.Errorf("their headers are %+v, %v", headers, err)
	}

	ended, last := stoneOf(t, "snapshot ended"), new(pb.EndedInstances)
	if err := proto.Unmarshal(ended.data, last); err != nil {
		t.Fatal(err)
	}
	alike(t, ended.fields, fields(wire.ToEnded(last.Endings[0], last.Instances[0])))
	o := wire.Ended(in)
	o.Head, o.Given = []byte("head"), []uint64{3}
	same(t, ended.data, &pb.EndedInstances{Endings: []*pb.Ending{wire.Ending(in)}, Instances: []*pb.EndedInstance{o}}, &pb.EndedInstances{})

	task := &pb.Task{About: "about", Next: []string{"a", "b"}, Policy: map[string]string{"k": "v"}, Writes: []string{"x"}}
	at := wire.Stamp(in.OpenedAt)
	same(t, stoneOf(t, "reply full").data, &pb.CommandReply{Seq: 1, Duplicate: true, Token: 2, Lease: at, Instance: wire.FullView(in), Task: task}, &pb.CommandReply{})
	same(t, stoneOf(t, "reply agent").data, &pb.CommandReply{Seq: 1, Token: 2, Lease: at, Instance: wire.AgentView(in, 1), Task: task}, &pb.CommandReply{})
	same(t, stoneOf(t, "reply compact").data, &pb.CommandReply{Seq: 1, Instance: wire.Compact(in)}, &pb.CommandReply{})
}

func TestBatchesOfAnEarlierBuildAreReadAndWrittenAsItDid(t *testing.T) {
	batch, reply := stoneOf(t, "batch").data, stoneOf(t, "batch reply").data
	if data := wire.Batch([]byte("one"), []byte("two")); !bytes.Equal(data, batch) {
		t.Errorf("a batch is %x, want %x", data, batch)
	}
	commands, err := wire.Commands(batch)
	if err != nil || fmt.Sprintf("%s", commands) != "[one two]" {
		t.Errorf("its commands are %s, %v", commands, err)
	}
	answers := map[uint64]string{}
	if err := wire.Answers(reply, func(number uint64, reply []byte) { answers[number] = string(reply) }); err != nil {
		t.Fatal(err)
	}
	alike(t, map[uint64]string{0: "one", 300: "two"}, answers)
	// A number that is zero may be there or not.
	want, got := new(pb.EncodedBatchReply), new(pb.EncodedBatchReply)
	data := wire.BatchReply(wire.Answer{Number: 0, Reply: []byte("one")}, wire.Answer{Number: 300, Reply: []byte("two")})
	if err := errors.Join(proto.Unmarshal(reply, want), proto.Unmarshal(data, got)); err != nil || !proto.Equal(got, want) {
		t.Errorf("the reply is %v, want %v (%v)", got, want, err)
	}
}
