package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestAListComesInPages(t *testing.T) {
	e := newEnv(t, nil)
	var want []string
	for n := range 230 {
		e.open(id(n))
		want = append(want, id(n))
	}
	for limit, first := range map[int32]int{0: 100, 7: 7, 230: 230, 5000: 230, -1: 100} {
		t.Run(fmt.Sprint("of ", limit), func(t *testing.T) {
			var got []string
			after := ""
			for page := 0; page == 0 || after != ""; page++ {
				reply := new(pb.ListReply)
				e.proto("sb.api.list", &pb.ListRequest{Limit: limit, After: after}, reply)
				if page == 0 && len(reply.GetInstances()) != first {
					t.Fatalf("the first page has %d lines, want %d", len(reply.GetInstances()), first)
				}
				for _, line := range reply.GetInstances() {
					got = append(got, line.GetInstance())
				}
				after = reply.GetNext()
			}
			if !slices.Equal(got, want) {
				t.Errorf("all pages together have %d lines", len(got))
			}
		})
	}
}

func TestAPageFitsAMessage(t *testing.T) {
	e := newEnv(t, nil)
	const n = 6
	for i := range n {
		if _, err := e.client.Open(t.Context(), "", "issue", id(i), instance.Issue{Title: strings.Repeat("t", 400<<10)}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := e.client.List(t.Context(), &pb.ListRequest{})
	if err != nil || len(all) != n {
		t.Errorf("listed %d, %v", len(all), err)
	}
	for i := range n {
		e.note(id(0), fmt.Sprint(i, strings.Repeat("x", 300<<10)))
	}
	records, err := e.client.History(t.Context(), id(0), 0)
	if err != nil || len(records) != 1+n {
		t.Fatalf("the history has %d commits, %v", len(records), err)
	}
	for i, r := range records[1:] {
		if text := r.GetCommit().GetEvents()[0].GetNoted().GetText(); len(text) != 1+300<<10 || text[0] != '0'+byte(i) {
			t.Errorf("commit %d has a note of %d bytes", r.GetSeq(), len(text))
		}
	}
	if rest, err := e.client.History(t.Context(), id(0), records[n].GetSeq()); err != nil || len(rest) != 0 {
		t.Errorf("behind the last there are %d, %v", len(rest), err)
	}
	if rest, err := e.client.History(t.Context(), id(0), records[n-2].GetSeq()); err != nil || len(rest) != 2 {
		t.Errorf("behind the last but two there are %d, %v", len(rest), err)
	}
}

// However much people wrote, an agent has to get its claim answered.
func TestAnInstanceThatOutgrewAMessageIsAnsweredShortened(t *testing.T) {
	e := newEnv(t, nil)
	work := e.open("a").GetInstance().GetWork()
	for i := range 12 {
		e.note("a", fmt.Sprint(i, strings.Repeat("\x01", 250<<10)))
	}
	check := func(name string, notes []any) {
		t.Helper()
		if len(notes) == 0 {
			t.Fatalf("%s: no notes are left", name)
		}
		last := notes[len(notes)-1].(map[string]any)["text"].(string)
		if !strings.HasPrefix(last, "11") || !strings.Contains(last, "bytes left out") {
			t.Errorf("%s: the last note is %.20q… of %d bytes", name, last, len(last))
		}
	}
	claimed := e.json("sb.api.agent.pm.claim",
		map[string]any{"instance": "a", "claim": map[string]any{"agent": "p", "work": work, "lease_ms": 60000}})
	if claimed["refusal"] != nil || claimed["token"] == nil {
		t.Fatalf("the claim is answered %.300v", claimed)
	}
	check("claim", claimed["instance"].(map[string]any)["notes"].([]any))
	got := e.json("sb.api.get", map[string]any{"instance": "a"})
	check("get", got["instance"].(map[string]any)["notes"].([]any))
	in, err := e.client.Get(t.Context(), "a")
	if err != nil || in.GetIssue().GetBody() != "It is broken." {
		t.Errorf("in protobuf it is %v, %v", in.GetIssue(), err)
	}
	if full, err := e.client.History(t.Context(), "a", 0); err != nil || len(full) != 14 {
		t.Errorf("the history has %d commits, %v", len(full), err)
	}
}

func TestWhatFitsNoMessageIsAnsweredAllTheSame(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	e.note("a", strings.Repeat("\x01", 700<<10)) // six times as long in JSON
	reply := e.json("sb.api.history", map[string]any{"instance": "a", "after": 1})
	no, _ := reply["refusal"].(map[string]any)
	if no["code"] != "invalid" || !strings.Contains(fmt.Sprint(no["message"]), "too large") {
		t.Errorf("answered %.300v", reply)
	}
	if records, err := e.client.History(t.Context(), "a", 1); err != nil || len(records) != 1 {
		t.Errorf("in protobuf there are %d commits, %v", len(records), err)
	}
}

func second(_ *pb.CommandReply, err error) error { return err }

func TestADefinitionIsFoundByNameAndListedWithoutOne(t *testing.T) {
	e := newEnv(t, nil)
	named, err := e.client.Definition(t.Context(), "issue")
	if err != nil || !strings.Contains(string(named.GetSource()), "workflow: issue") || len(named.GetHash()) != 64 {
		t.Errorf("issue is %.100v, %v", named, err)
	}
	names, err := e.client.Definition(t.Context(), "")
	if err != nil || !slices.Contains(names.GetNames(), "issue") {
		t.Errorf("the names are %v, %v", names.GetNames(), err)
	}
}

func TestTheHistoryIsReadUpToASequenceOrATime(t *testing.T) {
	e := newEnv(t, nil)
	e.open(id(0))
	for range 4 {
		e.note(id(0), "one")
	}
	all, err := e.client.History(t.Context(), id(0), 0)
	if err != nil || len(all) != 5 {
		t.Fatal(len(all), err)
	}
	for what, q := range map[string]*pb.HistoryRequest{
		"a sequence": {Until: all[2].GetSeq()},
		"a time":     {UntilTime: all[2].GetTime()},
		"both":       {Until: all[2].GetSeq(), UntilTime: all[4].GetTime(), After: all[0].GetSeq()},
	} {
		q.Instance = id(0)
		got, err := e.client.Past(t.Context(), q)
		if err != nil || len(got) == 0 || got[len(got)-1].GetSeq() != all[2].GetSeq() || got[0].GetSeq() <= q.GetAfter() {
			t.Errorf("up to %s: %v, %v", what, got, err)
		}
	}
}

func TestTheHistoryIsReadBehindAnySequence(t *testing.T) {
	e := newEnv(t, nil)
	e.open(id(0))
	e.open(id(1))
	e.note(id(0), "one")
	e.note(id(1), "two")
	e.note(id(0), "three")
	for after, want := range [][]uint64{{1, 3, 5}, {3, 5}, {3, 5}, {5}, {5}, {}, {}} {
		records, err := e.client.History(t.Context(), id(0), uint64(after))
		got := []uint64{}
		for _, r := range records {
			got = append(got, r.GetSeq())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("behind %d: %v, %v, want %v", after, got, err, want)
		}
	}
}
