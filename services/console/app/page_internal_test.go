package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

var nine = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// hostile is what a stranger may write.
const hostile = "\x1b[31m\u202e<script>alert(1)</script><img src=https://evil.example.test/x onerror=alert(1)>" +
	"![t](https://evil.example.test/t.png) [l](javascript:alert(1)) \"'></textarea><style>*{}</style>{{.}}"

// told returns an instance that waits for people, and its commits; each text in it is text.
func told(t *testing.T, text string) (view.Instance, []*pb.Record) {
	t.Helper()
	const id = "acme/widgets/42"
	commits := [][]instance.Event{
		{instance.Opened{Workflow: "issue", Definition: "a832", State: "received", Owner: "pm", Kind: workflow.Work, Base: "1a2b3c4d5e6f7081",
			Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: text, Body: text, Labels: []string{text}, Author: text,
				URL: "https://forge.example.test/acme/widgets/issues/42"}},
			instance.Dispatched{State: "received", Owner: "pm"}},
		{instance.Claimed{Token: 1, Role: "pm", Agent: text, Lease: nine.Add(time.Hour)}},
		{instance.Reported{Token: 1, Role: "pm", Agent: text, State: "received", Result: instance.Result{
			Status: instance.Failure, ConfidenceScore: 1, Summary: text, FailureSignature: text, IssuesFound: []string{text},
			Spend: instance.Cost{TokensIn: 1200, TokensOut: 80, USD: 0.034, WallMS: 18_000}, Head: "5d6e7f8091a2b3c4", Bundle: "git/1",
			Evidence: []instance.Evidence{{Name: text, Commit: "5d6e7f8091a2b3c4", Command: text, ExitCode: 1, Passed: 3, Failed: []string{text}, Output: text}}}},
			instance.Asked{Number: 1, From: "analyst", Text: text}, instance.Asked{Number: 2, From: "analyst", Text: text},
			instance.Answered{Number: 2, Text: text, By: text}, instance.Noted{Author: text, Kind: "comment", Text: text},
			instance.Escalated{Number: 1, Agent: text, Reason: text, RequiresHuman: true},
			instance.Moved{From: "received", To: "waiting_for_requirements_clarification", Kind: workflow.Wait, Rule: "decide", Reason: text}},
	}
	var all []instance.Commit
	var records []*pb.Record
	for i, events := range commits {
		all = append(all, instance.Commit{Seq: uint64(i + 1), ID: "cmd", At: nine.Add(time.Duration(i) * time.Minute), Actor: text, Events: events})
		data, err := wire.Events(text, events)
		if err != nil {
			t.Fatal(err)
		}
		r, err := wire.Record(eventstore.Commit{Seq: uint64(i + 1), ID: "cmd", Time: all[i].At, Instance: id, State: "received", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return view.Of(wire.FullView(instance.Fold(id, all))), records
}

func env() *term.Env { return &term.Env{Now: func() time.Time { return nine.Add(time.Hour) }} }

// shown returns each page with an instance whose texts are text.
func shown(t *testing.T, text string) map[string]string {
	t.Helper()
	p, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	p.now = env().Now
	in, records := told(t, text)
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	r := rowOfWhole(in)
	board := makeBoard(snapshotOf([]*row{&r}), filter{Text: ""}, p.now())
	board.Rows[0].Why, board.Ignored = whyOf(env(), in), text
	board.frame = frame{Title: text, As: "ann", Live: true, Flash: text, Refused: text}
	short := text[:min(len(text), 1000)]
	no := refusal{Instance: in.Instance, Why: text, Sent: url.Values{"q1": {short}, "text": {short}, "reason": {short}}}
	one := makeInstance(env(), in, def, records, 0)
	one.Demo = &instance.Demo{Command: text, Page: text, Base: instance.DemoRun{Commit: "1a2b3c4d5e6f", Ended: text, Output: text, NoPicture: text}, Change: instance.DemoRun{Ended: text}}
	one.Slider = makeSlider(one.Row.URL, records, 0)
	one.Slider.explain(env(), def, in.Instance, records)
	one.frame, one.Forms, one.Unread = board.frame, makeForms(in, def, "/inbox", false, no), text
	inbox := inboxPage{frame: board.frame, Items: []item{{Row: board.Rows[0], Why: text, Links: forgeLinks(in), Forms: one.Forms}}, Paused: board.Rows}
	life := makeLifecycle(def, []*row{&r}, map[[2]string]moved{{"received", "analyzing_requirements"}: {2, []time.Duration{time.Minute, 2 * time.Minute}}}, nine, p.now())
	life.frame, life.Others = board.frame, []choice{{Text: text, URL: "/lifecycles/x"}}
	agents := makeAgents([]*row{{ID: in.Instance, Title: text, Agent: text, Role: "developer", Kind: workflow.Work, State: "implementing", Entered: nine}}, p.now())
	agents.add(&pb.CostsReply{Sums: []*pb.CostSum{{Role: "developer", Steps: 4, Failed: 1, MedianMs: 90_000, Usd: 1.5}}})
	agents.frame = board.frame
	costs := makeCosts(&pb.CostsReply{Sums: []*pb.CostSum{{Repo: text, Steps: 4, Failed: 1, Unmetered: 2, Usd: 3, TokensIn: 5, WallMs: 60_000}, {Repo: "acme/gears", Steps: 1, Usd: 1.5}}}, "repo", usualSince)
	costs.frame = board.frame
	health := makeHealth([]*pb.HealthCheck{{Check: text, Status: "fail", Detail: text, Advice: text, Instances: []string{in.Instance}}, {Check: "log", Status: "ok", Since: timestamppb.New(nine)}})
	health.frame = board.frame
	files, left := readDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-"+text+"\n+"+text+"\n", shownDiff)
	change := diffPage{frame: board.frame, Of: text, Files: files, Left: left}
	again := whatIfPage{frame: board.frame, Policy: text, Lifecycles: []string{text}, Asked: true, Elsewhere: 1, Differences: text, Left: 3,
		Rows: []whatIfRow{{ID: in.Instance, URL: one.Row.URL, Seq: 3, Recorded: text, Instead: text, Tail: text}}}
	pages := map[string]string{}
	for name, data := range map[string]any{"agents": agents, "costs": costs, "health": health, "whatif": again, "diff": change, "lifecycle": life, "board": board, "instance": one, "inbox": inbox, "signin": signInPage{frame: frame{Refused: text}, Next: "/i/" + text[:5]},
		"fault": struct{ frame }{board.frame}} {
		w := httptest.NewRecorder()
		p.show(w, http.StatusOK, name, data)
		if w.Code != http.StatusOK || !strings.HasSuffix(strings.TrimSpace(w.Body.String()), "</html>") {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		pages[name] = w.Body.String()
	}
	return pages
}

func TestAPageRunsAndLoadsNothingThatAStrangerWrote(t *testing.T) {
	active := regexp.MustCompile(`(?i)<(script|img|style|iframe|object|embed|base|meta http)[^>]*>|<[^>]+\s(on\w+|style)\s*=|(href|src|action)=\s*javascript:`)
	quoted := regexp.MustCompile(`"[^"]*"`)
	for name, page := range shown(t, hostile) {
		for _, m := range quoted.FindAllString(page, -1) {
			if strings.Contains(strings.ToLower(m), "\"javascript:") {
				t.Errorf("%s links to %s", name, m)
			}
		}
		bare := quoted.ReplaceAllString(page, `"…"`)
		for _, found := range active.FindAllString(bare, -1) {
			if !strings.HasPrefix(found, `<script src="…"`) {
				t.Errorf("%s has %q", name, found)
			}
		}
		if strings.ContainsAny(page, "\x1b\u202e\x00") {
			t.Errorf("%s has characters that do not show", name)
		}
		if name != "signin" && !strings.Contains(page, "‹U+202E›") {
			t.Errorf("%s does not show the texts at all", name)
		}
	}
}

func TestAPageStaysSmallWhateverStrangersWrite(t *testing.T) {
	for name, page := range shown(t, strings.Repeat("long title ", 100_000)) {
		if most := map[string]int{"instance": 250 << 10, "inbox": 120 << 10}[name]; len(page) > max(most, 100<<10) {
			t.Errorf("%s has %d bytes", name, len(page))
		}
	}
}

func TestAnInstanceSaysWhereItIsAndWhyItDoesNotMove(t *testing.T) {
	pages := shown(t, "The last widget is missing")
	for name, want := range map[string][]string{
		"instance": {
			`<h1>The last widget is missing</h1>`, `●&nbsp;</span>waiting_<wbr>for_<wbr>requirements_<wbr>clarification`, "put it to people", "Send the answer",
			`href="https://forge.example.test/acme/widgets/issues/42"`, `class="state wait here people"`, `class="state work left"`,
			"received → waiting_for_requirements_clarification</b>", `<b>Q2</b> analyst asks people`, "$0.03", "1200 in, 80 out", "✕ fail",
			`id="e3"`, "Cancel the instance", `name="moves" value="1"`, "UNPROVEN",
		},
		"board": {`<dialog id="keys"`, `<td class="why">`, `href="/i/acme/widgets/42"`, `<b>1</b>`, "1 to 1 of 1 open"},
		"lifecycle": {`class="state wait lit people"`, `<b>2×</b>`, "1 open instance, 0 closed", `●&nbsp;</span>1<span class="hidden"> waits for people`,
			`<a href="/?state=waiting_for_requirements_clarification&amp;workflow=issue"><title>waiting_for_requirements_clarification, 1 instance, waits for people, the oldest for 58m`,
			"received → analyzing_requirements: made 2×, usually after 2m", ">2× 2m</text>"},
		"agents": {"1 instance at work, 0 not taken", `<td>1</td>`, "4 steps, 1 failed, usually 1m30s, $1.50"},
		"costs":  {"$4.50, 1m of work in 5 steps; 2 of them reported no tokens", "$3.00", `width="50.0%"`, `<a href="/costs?by=day">Day</a>`, `<a href="/costs" aria-current="true">7 days</a>`},
		"diff":   {`<div class="added"><b>1</b><i>&#43;</i><span>The last widget is missing</span></div>`},
		"inbox":  {`<label for="acme/widgets/42-q1">`, `name="q1"`, `>The last widget is missing</textarea>`, "<h2>Paused</h2>"},
	} {
		for _, text := range want {
			if !strings.Contains(pages[name], text) {
				t.Errorf("%s lacks %q:\n%s", name, text, pages[name])
			}
		}
	}
}

func TestEachIdIsOnAPageOnce(t *testing.T) {
	for name, page := range shown(t, "A title") {
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s has the id %s twice", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`(?:for|aria-labelledby|aria-describedby)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !seen[m[1]] {
				t.Errorf("%s refers to %s, which is not there", name, m[1])
			}
		}
		if strings.Count(page, "<h1") != 1 || strings.Count(page, "<main") != 1 {
			t.Errorf("%s has no single heading, or no single main part", name)
		}
	}
}

func TestARowIsTheSameFromASummaryAndFromTheWhole(t *testing.T) {
	moved := func(change func(*instance.Instance)) instance.Instance {
		in := instance.Fold("acme/widgets/42", []instance.Commit{{Seq: 7, At: nine, Events: []instance.Event{instance.Opened{Workflow: "issue", State: "received",
			Owner: "pm", Kind: workflow.Work, Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: "It breaks"}}}}})
		change(&in)
		return in
	}
	for name, in := range map[string]instance.Instance{
		"it works": moved(func(in *instance.Instance) {
			in.Claim = &instance.ActiveClaim{Agent: "pm-1", Role: "pm", Lease: nine.Add(time.Hour)}
		}),
		"it waits":     moved(func(in *instance.Instance) { in.Kind, in.Owner = workflow.Wait, "" }),
		"it is paused": moved(func(in *instance.Instance) { in.Paused, in.Reason = true, "lunch" }),
		"it is put to people": moved(func(in *instance.Instance) {
			in.Escalations = []instance.Escalation{{Number: 1, RequiresHuman: true, Agent: "d-1", Reason: "no network"}}
		}),
		"it follows another": moved(func(in *instance.Instance) {
			in.Kind, in.Owner, in.Links = workflow.Wait, "", []instance.Link{{Instance: "acme/widgets/41", Kind: instance.After}}
		}),
		"it is late":       moved(func(in *instance.Instance) { in.Timeout = time.Minute }),
		"it was cancelled": moved(func(in *instance.Instance) { in.Closed = instance.Cancelled }),
		"it ended well":    moved(func(in *instance.Instance) { in.Closed, in.Kind = instance.Ended, workflow.Final }),
		"it asks something": moved(func(in *instance.Instance) {
			in.Questions = []instance.Question{{Number: 1, From: "pm", Text: "Which?"}}
		}),
	} {
		short, whole := rowOf(wire.Summary(in)), rowOfWhole(view.Of(wire.FullView(in)))
		if !reflect.DeepEqual(short, whole) || short.look() != whole.look() {
			t.Errorf("%s: a summary gives\n%+v, the whole\n%+v", name, short, whole)
		}
		if name == "it waits" != (whole.look().Class == "people") && name != "it is put to people" {
			t.Errorf("%s: it looks like %+v", name, whole.look())
		}
	}
}

func TestAFilterIsInTheAddressAndComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f filter
		for _, key := range []string{keyRepo, keyWorkflow, keyState, keyRole, keyLabel, keyText} {
			*f.texts()[key] = strings.TrimSpace(rapid.String().Draw(t, key))
		}
		for _, key := range []string{keyWaiting, keyLate, keyFailing, keyUnproven, keyClosed} {
			*f.marks()[key] = rapid.Bool().Draw(t, key)
		}
		f.Page = rapid.IntRange(0, 9).Draw(t, "page")
		u, err := url.Parse(f.url())
		if err != nil {
			t.Fatal(err)
		}
		if got, ignored := readFilter(u.Query()); got != f || ignored != nil {
			t.Fatalf("%s becomes %+v and leaves %q, want %+v", u, got, ignored, f)
		}
	})
	if got, ignored := readFilter(url.Values{"repo": {"a/b"}, "sort": {"x"}, "page": {"-1"}}); got != (filter{Repo: "a/b"}) || !slices.Equal(ignored, []string{"sort"}) {
		t.Errorf("%+v, ignored %q", got, ignored)
	}
}

func TestTheBoardShowsWhatWaitsForPeopleFirstAndPagesTheRest(t *testing.T) {
	var all []*row
	for i := range 120 {
		all = append(all, &row{ID: fmt.Sprintf("acme/widgets/%d", i), Repo: "acme/widgets", Workflow: "issue", State: "implementing", Role: "developer",
			Kind: workflow.Work, Entered: nine.Add(-time.Duration(i) * time.Minute), Title: fmt.Sprintf("Widget %d", i)})
	}
	all[5].Waits, all[5].Kind, all[5].State, all[5].Role = true, workflow.Wait, "waiting", ""
	all[9].Failures = 2
	all[7].Repo, all[8].Closed, all[6].Unproven = "acme/parse", instance.Ended, "no test"
	first := func(p boardPage) string { return p.Rows[0].ID }
	p := makeBoard(snapshotOf(all), filter{}, nine)
	if len(p.Rows) != perPage || p.Total != 119 || p.From != 1 || p.To != perPage || first(p) != "acme/widgets/5" || p.Rows[1].ID != "acme/widgets/9" ||
		p.Rows[2].ID != "acme/widgets/119" || p.Prev != "" || p.Next != "/?page=2" || p.Closed != 1 {
		t.Errorf("the board is %+v", p)
	}
	if l := p.Lifecycles; len(l) != 1 || l[0].Count != 119 || l[0].States[0].Count != 118 || l[0].States[0].Look.Class != "failed" ||
		l[0].States[1].Look.Class != "people" || l[0].States[1].URL != "/?state=waiting&workflow=issue" {
		t.Errorf("the lifecycles are %+v", l)
	}
	for name, c := range map[string]struct {
		f     filter
		total int
		first string
	}{
		"the last page":        {filter{Page: 2}, 119, "acme/widgets/21"},
		"a page beyond it":     {filter{Page: 99}, 119, "acme/widgets/21"},
		"a repository":         {filter{Repo: "acme/parse"}, 1, "acme/widgets/7"},
		"what waits":           {filter{Waiting: true}, 1, "acme/widgets/5"},
		"what fails":           {filter{Failing: true}, 1, "acme/widgets/9"},
		"what is not shown":    {filter{Unproven: true}, 1, "acme/widgets/6"},
		"what is closed":       {filter{Closed: true}, 1, "acme/widgets/8"},
		"a state":              {filter{Workflow: "issue", State: "waiting"}, 1, "acme/widgets/5"},
		"a role":               {filter{Role: "developer"}, 118, "acme/widgets/9"},
		"a text in any case":   {filter{Text: "wIdGeT 11"}, 11, "acme/widgets/119"},
		"a text that is an id": {filter{Text: "widgets/7"}, 11, "acme/widgets/79"},
	} {
		p := makeBoard(snapshotOf(all), c.f, nine)
		if p.Total != c.total || first(p) != c.first {
			t.Errorf("%s: %d rows, the first is %s; want %d and %s", name, p.Total, first(p), c.total, c.first)
		}
	}
	none := makeBoard(snapshotOf(all), filter{Repo: "acme/nothing", Late: true}, nine)
	if none.Total != 0 || none.From != 0 || len(none.Drop) != 2 || none.Drop[0].URL != "/?late=1" || none.All != 119 {
		t.Errorf("with no match the board is %+v", none)
	}
}

func TestAPageOfManyRowsIsThatOfTheWholeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*row
		for i := range rapid.IntRange(0, 200).Draw(t, "rows") {
			all = append(all, &row{ID: fmt.Sprint(i), Waits: rapid.Bool().Draw(t, "waits"), Failures: rapid.IntRange(0, 1).Draw(t, "failures"),
				Entered: nine.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "entered")))})
		}
		to := rapid.IntRange(0, len(all)).Draw(t, "to")
		from := rapid.IntRange(0, to).Draw(t, "from")
		want := slices.Clone(all)
		slices.SortFunc(want, order)
		if got := page(slices.Clone(all), from, to); !slices.Equal(got, want[from:to]) {
			t.Fatalf("those from %d to %d of %d are others", from, to, len(all))
		}
	})
}

// snapshotOf returns what a cache with the rows shows.
func snapshotOf(all []*row) snapshot {
	s := snapshot{rows: all, loaded: true}
	var x index
	for _, r := range all {
		x.add(r, 1)
	}
	s.offered = [2]choices{x.choices(false), x.choices(true)}
	return s
}

func TestWhatTheBoardOffersFollowsTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCache(nil, newHub(), nil)
		names := rapid.SampledFrom([]string{"", "a", "b"})
		for i := range rapid.IntRange(0, 40).Draw(t, "changes") {
			r := row{ID: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id")), Seq: uint64(i), Repo: names.Draw(t, "repo"), Role: names.Draw(t, "role"),
				Workflow: rapid.SampledFrom([]string{"issue", "learnings"}).Draw(t, "workflow"), Labels: []string{names.Draw(t, "label")}}
			if rapid.Bool().Draw(t, "closed") {
				r.Closed = instance.Ended
			}
			c.set(r)
		}
		s := c.snapshot()
		if want := snapshotOf(s.rows); !reflect.DeepEqual(s.offered, want.offered) {
			t.Fatalf("it offers %+v, and the rows are %+v", s.offered, want.offered)
		}
	})
}

func TestNoAssetHasAnInlineScriptOrStyle(t *testing.T) {
	files, err := asset.ReadDir("asset")
	if err != nil || len(files) < 8 {
		t.Fatal(len(files), err)
	}
	inline := regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|javascript:|eval\(|Function\(|innerHTML|//[a-z0-9.-]+\.[a-z]+/`)
	for _, f := range files {
		text, err := asset.ReadFile("asset/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.Find([]byte(strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", ""))); found != nil {
			t.Errorf("%s has %q, which the policy forbids", f.Name(), found)
		}
	}
}

func TestAnAnswerNamesTheQuestionsThatItAnswers(t *testing.T) {
	in := view.Instance{Questions: []instance.Question{{Number: 1, Text: "a"}, {Number: 2, Answered: true}, {Number: 3}, {Number: 4, To: "tester"}}}
	for want, form := range map[string]url.Values{
		"":                                {"q2": {"closed"}, "q4": {"not for people"}, "q1": {"  "}},
		"Q1: yes":                         {"q1": {" yes\r\n"}},
		"Q1: yes\n\nQ3: a\nb\n\nand more": {"q3": {"a\r\nb"}, "q1": {"yes"}, "text": {"and more"}},
	} {
		if got := answerOf(in, form); got != want {
			t.Errorf("%v becomes %q, want %q", form, got, want)
		}
	}
}

func BenchmarkTheBoardOf100000(b *testing.B) {
	var all []*row
	for i := range 100_000 {
		all = append(all, &row{ID: fmt.Sprintf("acme/widgets/%d", i), Workflow: "issue", State: fmt.Sprintf("state%d", i%20), Kind: workflow.Work,
			Role: "developer", Entered: nine.Add(-time.Duration(i*7919%100_000) * time.Second), Title: "A title", Waits: i%50 == 0})
	}
	for b.Loop() {
		if p := makeBoard(snapshotOf(all), filter{}, nine); p.Total != len(all) {
			b.Fatal(p.Total)
		}
	}
}
