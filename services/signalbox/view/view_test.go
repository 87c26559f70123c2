package view

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/wire/wiretest"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

var update = flag.Bool("update", false, "write the golden files again")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// moments are points of the story: a number of commits, and minutes past nine.
var moments = []struct {
	name    string
	commits int
	minutes float64
}{
	{"untaken", 3, 0.05},
	{"working", 5, 0.35},
	{"waiting", 9, 80},
	{"failing", 14, 96.5},
	{"silent", 17, 108},
	{"paused", 18, 110.5},
	{"looping", 21, 113.2},
	{"cancelled", 23, 1660},
}

func TestThePageOfAnInstance(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			env, out := screen(m.minutes)
			if err := Page(env, after(m.commits)); err != nil {
				t.Fatal(err)
			}
			golden(t, "show-"+m.name+".txt", out.Bytes())
		})
	}
}

func TestPagesFitTheTerminal(t *testing.T) {
	src, err := os.ReadFile("testdata/lifecycle.yaml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Load("lifecycle.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 120} {
		for _, m := range moments {
			env, out := screen(m.minutes)
			env.Width = width
			in := after(m.commits)
			in.Evidence = append(in.Evidence, instance.Evidence{Name: "tests", Commit: in.Head, Command: "make test", ExitCode: 2,
				Output: strings.Repeat("one word after another ", 20) + strings.Repeat("\nline", 20), Data: map[string]string{"sandbox": "bwrap"}})
			if err := Page(env, in); err != nil {
				t.Fatal(err)
			}
			if text := out.String(); !strings.Contains(text, "sandbox: bwrap") || !strings.Contains(text, "… 13 lines more: signalbox logs") {
				t.Errorf("%s says %s", m.name, text)
			}
			if err := Explain(env, def, in).Print(env, true); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if words := strings.Fields(line); utf8.RuneCountInString(strings.TrimRight(line, "\n")) > width && len(words) > 2 {
					t.Errorf("%s, %d wide: %q", m.name, width, line)
				}
			}
		}
	}
}

func TestTheExplanation(t *testing.T) {
	src, err := os.ReadFile("testdata/lifecycle.yaml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Load("lifecycle.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			env, out := screen(m.minutes)
			if err := Explain(env, def, after(m.commits)).Print(env, true); err != nil {
				t.Fatal(err)
			}
			golden(t, "explain-"+m.name+".txt", out.Bytes())
		})
	}
}

func TestTheHistory(t *testing.T) {
	t.Run("is a table for people", func(t *testing.T) {
		env, out := screen(1660)
		if err := Table(env, History(id, records(t)), true); err != nil {
			t.Fatal(err)
		}
		golden(t, "history.txt", out.Bytes())
	})
	t.Run("is a line an event for programs", func(t *testing.T) {
		env, out := screen(1660)
		env.JSON = true
		if err := Table(env, History(id, records(t)), true); err != nil {
			t.Fatal(err)
		}
		golden(t, "history.jsonl", out.Bytes())
	})
	t.Run("says that work was given directly, and to whom", func(t *testing.T) {
		got := Events(id, "", instance.Commit{Actor: "pm/pm-1", Events: []instance.Event{
			instance.Claimed{Token: 2, Role: "analyst", Agent: "a-1", Direct: true}, instance.Claimed{Token: 3, Role: "analyst", Agent: "a-2"}}})
		if !got[0].Direct || got[0].Reason != "given directly to a-1" || got[1].Direct || got[1].Reason != "" {
			t.Errorf("it says %+v", got)
		}
	})
	t.Run("names every event there is", func(t *testing.T) {
		for name, event := range wiretest.Events(t) {
			want := map[string]string{"parked_until": "parked"}[name]
			if got := Events(id, "", instance.Commit{Events: []instance.Event{event}})[0].Event; got != stdcmp.Or(want, name) {
				t.Errorf("event.go: the event %s is named %q", name, got)
			}
		}
	})
	t.Run("of the story has every common event", func(t *testing.T) {
		missing := map[string]bool{}
		for _, name := range []string{"opened", "claimed", "lease_extended", "released", "reported", "proposal_refused", "gate_refused",
			"loop_detected", "moved",
			"dispatched", "signalled", "asked", "answered", "noted", "spent", "paused", "resumed", "cancelled"} {
			missing[name] = true
		}
		for _, e := range History(id, records(t)) {
			delete(missing, e.Event)
		}
		if len(missing) > 0 {
			t.Errorf("the story has no %v", missing)
		}
	})
}

func TestTheJSONOfAnInstance(t *testing.T) {
	show := func(in Instance) []byte {
		env, out := screen(1660)
		env.JSON = true
		if err := Page(env, in); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	t.Run("has everything", func(t *testing.T) {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, show(after(22)), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, "show.json", pretty.Bytes())
	})
	t.Run("has lists, not nulls, where nothing happened yet", func(t *testing.T) {
		var got map[string]any
		if err := json.Unmarshal(show(Of(&pb.Instance{Instance: "x"})), &got); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"previous_states", "visits", "questions", "notes", "evidence", "bundles", "artifacts"} {
			if list, ok := got[key].([]any); !ok || len(list) != 0 {
				t.Errorf("%s is %v, want []", key, got[key])
			}
		}
		for _, key := range []string{"iteration", "attempt", "seq"} {
			if n, ok := got[key].(float64); !ok || n != 0 {
				t.Errorf("%s is %v, want the number 0", key, got[key])
			}
		}
	})
}

func summaries() []Summary {
	var all []*pb.Summary
	for _, m := range moments {
		s := wire.Summary(instance.Fold(id, story()[:m.commits]))
		s.Instance += "/" + m.name
		all = append(all, s)
	}
	return Summaries(all)
}

func TestTheList(t *testing.T) {
	t.Run("is a table for people", func(t *testing.T) {
		env, out := screen(1660)
		if err := List(env, summaries()); err != nil {
			t.Fatal(err)
		}
		golden(t, "ls.txt", out.Bytes())
	})
	t.Run("is a line an instance for programs", func(t *testing.T) {
		env, out := screen(1660)
		env.JSON = true
		if err := List(env, summaries()); err != nil {
			t.Fatal(err)
		}
		golden(t, "ls.jsonl", out.Bytes())
	})
}

func TestAStreamHasALineForWhatIsNews(t *testing.T) {
	env, out := screen(1660)
	Here(env, after(3))
	entered := at(0)
	for _, e := range History(id, records(t)) {
		Line(env, e, e.Time.Sub(entered), e.Seq%2 == 0)
		if e.To != "" {
			entered = e.Time
		}
	}
	golden(t, "watch.txt", out.Bytes())
}

func TestAnInstanceIsOver(t *testing.T) {
	for _, c := range []struct {
		name        string
		event       instance.Event
		over, final bool
	}{
		{"in a final state", instance.Moved{To: "completed", Kind: workflow.Final}, true, true},
		{"when it is cancelled", instance.CancelledBy{}, true, false},
		{"not while it waits", instance.Moved{To: "blocked", Kind: workflow.Wait}, false, false},
		{"not because of a note about final things", instance.Noted{Kind: "final"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Events(id, "x", instance.Commit{At: time.Now(), Events: []instance.Event{c.event}})[0]
			if over, final := e.Over(); over != c.over || final != c.final {
				t.Errorf("over %v, final %v, want %v, %v", over, final, c.over, c.final)
			}
		})
	}
}

func TestInstancesAreListedByTheNumbersInTheirNames(t *testing.T) {
	var given []*pb.Summary
	for _, id := range []string{"acme/widgets/10", "acme/widgets/2", "b", "acme/widgets/02", "acme/gadgets/11", "acme/widgets/2-S1", "acme"} {
		given = append(given, &pb.Summary{Instance: id})
	}
	var got []string
	for _, s := range Sort(Summaries(given)) {
		got = append(got, s.Instance)
	}
	if want := []string{"acme", "acme/gadgets/11", "acme/widgets/02", "acme/widgets/2", "acme/widgets/2-S1", "acme/widgets/10", "b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
