package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

const twoFiles = `diff --git a/old name.go b/new name.go
similarity index 90%
index 1a2b..3c4d 100644
--- a/old name.go
+++ b/new name.go
@@ -3,3 +3,3 @@ func f() {
 same
--- dashes
+++ pluses
 same
\ No newline at end of file
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
`

func TestADiffIsReadLineByLine(t *testing.T) {
	files, left := readDiff(twoFiles, 1<<20)
	if len(files) != 2 || left != 0 || files[0].Name != "new name.go" || files[0].Added != 1 || files[0].Removed != 1 {
		t.Fatalf("%d files, %d left: %+v", len(files), left, files)
	}
	want := []diffLine{{"hunk", "", "similarity index 90%", 0, 0}, {"hunk", "", "@@ -3,3 +3,3 @@ func f() {", 0, 0}, {"same", " ", "same", 3, 3},
		{"removed", "-", "-- dashes", 4, 0}, {"added", "+", "++ pluses", 0, 4}, {"same", " ", "same", 5, 5}, {"hunk", "", `\ No newline at end of file`, 0, 0}}
	if !slices.Equal(files[0].Lines, want) {
		t.Errorf("the lines are %+v, want %+v", files[0].Lines, want)
	}
	if _, left := readDiff(twoFiles, 100); left != 7 {
		t.Errorf("%d lines are left out, want 7", left)
	}
}

func TestTwoColumnsShowTheLinesOfAPlaceBesideEachOther(t *testing.T) {
	files, _ := readDiff("diff --git a/x b/x\n@@ -1,5 +1,6 @@\n a\n-b\n-c\n+B\n+C\n+D\n d\n-e\n-f\n", 1<<20)
	var got []string
	for _, c := range files[0].Chunks() {
		text := c.Class + ":"
		for _, l := range c.Lines {
			text += l.Sign + l.Text
		}
		got = append(got, text)
	}
	if want := []string{"hunk:@@ -1,5 +1,6 @@", "same: a", "change:-b-c+B+C+D", "same: d", "change:-e-f"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	files, _ = readDiff("diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n-b\n+B\n", 1<<20)
	if n := len(files[0].Chunks()); n != 3 {
		t.Errorf("two places are in %d parts, want a heading and 2", n)
	}
	if n := len(changedFile{}.Chunks()); n != 0 {
		t.Errorf("no lines are in %d parts", n)
	}
}

func TestAHostileChangeHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"a/x b/x":                               "x",
		"a/old name.go b/new name.go":           "new name.go",
		"a/a b/b b/a b/b":                       "a b/b",
		`"a/caf\303\251.go" "b/caf\303\251.go"`: "café.go",
		`a/x "b/tab\there"`:                     "tab\there",
		`"a/x`:                                  `"a/x`,
		"":                                      "",
	} {
		if got := fileName(in); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
	text := "diff --git a/x b/x\n@@ -1 +1 @@\n+safe\ndiff --git \"a/\\303\\251\" \"b/\\303\\251\"\n@@ -0,0 +1,2 @@\n+\x1b[2Kevil\u202e\n+diff --git a/y b/y\n"
	files, _ := readDiff(text, 1<<20)
	if len(files) != 2 || files[1].Name != "é" || files[1].Added != 2 || files[1].Lines[1].Text != "‹U+001B›[2Kevil‹U+202E›" {
		t.Errorf("%+v", files)
	}
	files, left := readDiff("diff --git a/x b/x\n@@ -1 +1 @@\n"+strings.Repeat("+"+strings.Repeat("x", 1<<20)+"\n", 1000), shownDiff)
	size := 0
	for _, l := range files[0].Lines {
		size += len(l.Text)
	}
	if left+len(files[0].Lines) != 1001 || size > shownDiff || files[0].Added != 1000 {
		t.Errorf("%d lines with %d bytes are shown, %d are left out", len(files[0].Lines), size, left)
	}
}

func TestAnAttemptIsWhatAHeadAddsToTheOneBefore(t *testing.T) {
	in := &pb.Instance{Base: "a", Bundles: []*pb.Bundle{{Head: "b"}, {Head: "b"}, {Head: "c"}}}
	if got := heads(in); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the heads are %q", got)
	}
}

func TestTheOldestChangeMakesRoom(t *testing.T) {
	d := newChanges()
	for i := range 2 * maxDiffs {
		d.keep(string(rune('a'+i)), "diff")
	}
	if _, ok := d.kept(string(rune('a' + 2*maxDiffs - 1))); !ok || len(d.all) != maxDiffs {
		t.Errorf("%d are kept, the newest is: %t", len(d.all), ok)
	}
}

func TestABarBeginsWhereItsStayBegins(t *testing.T) {
	at := func(m int, e view.Event) event {
		e.Time, e.Seq = nine.Add(time.Duration(m)*time.Minute), uint64(m+1)
		return event{Event: e}
	}
	events := []event{at(0, view.Event{Event: "opened", To: "a", Kind: "work"}), at(1, view.Event{Event: "claimed", Agent: "a-1"}),
		at(5, view.Event{Event: "moved", To: "b", Kind: "wait"}), at(10, view.Event{Event: "moved", To: "c", Kind: "final"})}
	all := visits(events, true, nine.Add(time.Hour))
	want := []visit{{"a", "work", "a-1", "5m", 1, "0.00%", "10.00%", "50.00%", "40.00%"}, {"b", "people", "", "5m", 6, "50.00%", "", "50.00%", ""},
		{"c", "done", "", "0s", 11, "100.00%", "", "0.40%", ""}}
	if !slices.Equal(all, want) {
		t.Errorf("the bars are\n%+v, want\n%+v", all, want)
	}
	if open := visits(events[:3], false, nine.Add(20*time.Minute)); open[1].Width != "75.00%" || open[1].Took != "15m" {
		t.Errorf("an open stay is %+v", open[1])
	}
	if visits(nil, false, nine) != nil {
		t.Error("an instance without events has bars")
	}
}

func TestARoleWhoseWorkNobodyTakesComesFirst(t *testing.T) {
	p := makeAgents([]*row{
		{ID: "a/b/1", Role: "tester", Agent: "t-1", Kind: workflow.Work, Entered: nine}, {ID: "a/b/2", Role: "tester", Kind: workflow.Work, Entered: nine},
		{ID: "a/b/3", Role: "developer", Kind: workflow.Work, Entered: nine.Add(-time.Hour)}, {ID: "a/b/4", Role: "developer", Kind: workflow.Work, Entered: nine},
		{ID: "a/b/5", Role: "developer", Kind: workflow.Work, Paused: true}, {ID: "a/b/6", Role: "pm", Kind: workflow.Work, Closed: "ended"}, {ID: "a/b/7", Kind: workflow.Wait},
	}, nine)
	if len(p.Roles) != 2 || p.Busy != 1 || p.Open != 3 {
		t.Fatalf("%+v", p)
	}
	if d := p.Roles[0]; d.Name != "developer" || d.Queued != 2 || d.Agents != 0 || !d.Oldest.Equal(nine.Add(-time.Hour)) {
		t.Errorf("the first role is %+v", d)
	}
	if r := p.Roles[1]; r.Agents != 1 || r.Queued != 1 || len(r.Works) != 1 || r.Works[0].URL != "/i/a/b/1" {
		t.Errorf("the second role is %+v", r)
	}
}
