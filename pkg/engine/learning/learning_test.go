package learning_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func never(string) bool { return false }

func noted(author, path, text string, more ...func(*instance.Learning)) instance.Noted {
	l := &instance.Learning{Path: path, Trusted: true}
	for _, f := range more {
		f(l)
	}
	return instance.Noted{Author: author, Kind: learning.Noted, Text: text, Learning: l}
}

func of(author, kind string, ids ...string) instance.Noted {
	return instance.Noted{Author: author, Kind: kind, Learning: &instance.Learning{IDs: ids, Instance: author}}
}

func stranger(l *instance.Learning) { l.Trusted = false }

// listed returns the list of a log with an event a day, as of the day after the last.
func listed(well func(string) bool, events ...instance.Event) []learning.Learning {
	var b learning.Book
	at := noon
	for _, e := range events {
		b.Apply(instance.Commit{At: at, Events: []instance.Event{e}})
		at = at.Add(24 * time.Hour)
	}
	return b.List(at, well)
}

func states(all []learning.Learning) string {
	var said []string
	for _, l := range all {
		said = append(said, l.Text+" "+string(l.State))
	}
	return strings.Join(said, ", ")
}

func TestWhatWasLearnedIsTheFoldOfItsNotes(t *testing.T) {
	tz, docs := learning.ID("", "TZ"), learning.ID("docs", "make docs")
	well := func(id string) bool { return strings.HasPrefix(id, "good") }
	for name, c := range map[string]struct {
		events []instance.Event
		want   string
	}{
		"an agent proposes":                                {[]instance.Event{noted("dev/1", "", "TZ")}, "TZ proposed"},
		"a person's word is confirmed":                     {[]instance.Event{noted("operator:ann", "", "TZ")}, "TZ confirmed"},
		"what a person notes with an instance is proposed": {[]instance.Event{noted("operator:ann", "", "TZ", func(l *instance.Learning) { l.Instance = "acme/1" })}, "TZ proposed"},
		"and brings nothing back":                          {[]instance.Event{noted("operator:ann", "", "TZ"), of("operator:bob", learning.Dropped, tz), noted("operator:ann", "", "TZ", func(l *instance.Learning) { l.Instance = "acme/1" })}, "TZ removed"},
		"a person confirms":                                {[]instance.Event{noted("dev/1", "", "TZ"), of("operator:ann", learning.Confirmed, tz)}, "TZ confirmed"},
		"an agent confirms nothing":                        {[]instance.Event{noted("dev/1", "", "TZ"), of("dev/2", learning.Confirmed, tz)}, "TZ proposed"},
		"an agent removes nothing":                         {[]instance.Event{noted("operator:ann", "", "TZ"), of("dev/2", learning.Dropped, tz)}, "TZ confirmed"},
		"a person removes":                                 {[]instance.Event{noted("operator:ann", "", "TZ"), of("operator:bob", learning.Dropped, tz)}, "TZ removed"},
		"what is removed no agent brings back":             {[]instance.Event{noted("dev/1", "", "TZ"), of("operator:bob", learning.Dropped, tz), noted("dev/1", "", "tz.")}, "TZ removed"},
		"a person brings it back":                          {[]instance.Event{noted("dev/1", "", "TZ"), of("operator:bob", learning.Dropped, tz), noted("operator:ann", "", "tz")}, "TZ confirmed"},
		"case, spaces and a point make no new one":         {[]instance.Event{noted("dev/1", "docs", "Make  Docs"), noted("dev/1", "docs", "make docs."), of("operator:ann", learning.Confirmed, docs)}, "Make Docs confirmed"},
		"another path is another one":                      {[]instance.Event{noted("dev/1", "docs", "TZ"), noted("dev/1", "", "TZ")}, "TZ proposed, TZ proposed"},
		"a use that did not end well is nothing":           {[]instance.Event{noted("dev/1", "", "TZ"), of("bad/1", learning.Used, tz)}, "TZ proposed"},
		"a use that ended well confirms":                   {[]instance.Event{noted("dev/1", "", "TZ"), of("good/1", learning.Used, tz)}, "TZ confirmed"},
		"not what came from where strangers spoke":         {[]instance.Event{noted("dev/1", "", "TZ", stranger), of("good/1", learning.Used, tz)}, "TZ proposed"},
		"nor where it was learned itself":                  {[]instance.Event{noted("dev/1", "", "TZ", func(l *instance.Learning) { l.Instance = "good/1" }), of("good/1", learning.Used, tz)}, "TZ proposed"},
		"confirmed ones come first":                        {[]instance.Event{noted("operator:ann", "", "old"), noted("dev/1", "", "new")}, "old confirmed, new proposed"},
		"newer ones come first":                            {[]instance.Event{noted("dev/1", "", "old"), noted("dev/1", "", "new")}, "new proposed, old proposed"},
		"an unknown id, and no text, change nothing":       {[]instance.Event{of("operator:ann", learning.Confirmed, "no"), noted("dev/1", "", " "), noted("dev/1", "../x", "TZ")}, ""},
		"notes of other kinds are none":                    {[]instance.Event{instance.Noted{Author: "dev/1", Kind: "comment", Text: "TZ"}, instance.Paused{}}, ""},
		"a note without more is one":                       {[]instance.Event{instance.Noted{Author: "dev/1", Kind: "learning", Text: "TZ"}}, "TZ proposed"},
	} {
		if got := states(listed(well, c.events...)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestALearningAgesUnlessItIsConfirmedOrUsed(t *testing.T) {
	id := learning.ID("", "TZ")
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		first, second instance.Event // the second comes 60 days after the first
		after         time.Duration  // the first
		want          learning.State
	}{
		"a proposal is young":              {noted("dev/1", "", "TZ"), nil, learning.MaxAge - time.Second, learning.StateProposed},
		"a proposal gets old":              {noted("dev/1", "", "TZ"), nil, learning.MaxAge, learning.StateAged},
		"so does what a person noted":      {noted("operator:ann", "", "TZ"), nil, learning.MaxAge, learning.StateAged},
		"it is confirmed once more":        {noted("operator:ann", "", "TZ"), of("operator:bob", learning.Confirmed, id), 100 * day, learning.StateConfirmed},
		"it is used":                       {noted("operator:ann", "", "TZ"), of("acme/1", learning.Used, id), 100 * day, learning.StateConfirmed},
		"use does not keep a proposal":     {noted("dev/1", "", "TZ"), of("acme/1", learning.Used, id), 100 * day, learning.StateAged},
		"it is proposed once more":         {noted("dev/1", "", "TZ"), noted("dev/2", "", "TZ"), 100 * day, learning.StateProposed},
		"what is removed is removed first": {noted("dev/1", "", "TZ"), of("operator:bob", learning.Dropped, id), 200 * day, learning.StateRemoved},
	} {
		var b learning.Book
		b.Apply(instance.Commit{At: noon, Events: []instance.Event{c.first}})
		if c.second != nil {
			b.Apply(instance.Commit{At: noon.Add(60 * day), Events: []instance.Event{c.second}})
		}
		if got := b.List(noon.Add(c.after), never); len(got) != 1 || got[0].State != c.want {
			t.Errorf("%s: %s, want %s", name, states(got), c.want)
		}
	}
}

// However agents and people note, confirm, use and remove.
func TestAListIsOrderedCappedAndWithoutDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b learning.Book
		at := noon
		for range rapid.IntRange(0, 300).Draw(t, "events") {
			author := rapid.SampledFrom([]string{"dev/1", "operator:ann"}).Draw(t, "author")
			text := fmt.Sprint("fact ", rapid.IntRange(0, 200).Draw(t, "fact"))
			e := noted(author, rapid.SampledFrom([]string{"", "pkg"}).Draw(t, "path"), text)
			if kind := rapid.SampledFrom([]string{"", "", "", learning.Confirmed, learning.Used, learning.Dropped}).Draw(t, "kind"); kind != "" {
				e = of(author, kind, learning.ID("", text))
			}
			b.Apply(instance.Commit{At: at, Events: []instance.Event{e}})
			at = at.Add(time.Duration(rapid.IntRange(0, 48).Draw(t, "hours")) * time.Hour)
		}
		well := func(id string) bool { return id == "dev/1" }
		all := b.List(at, well)
		counting, seen := 0, map[string]bool{}
		for i, l := range all {
			if seen[l.ID] {
				t.Fatalf("%s is there twice", l.ID)
			}
			seen[l.ID] = true
			if l.Counts() {
				counting++
				if i != counting-1 {
					t.Fatalf("%s counts, and comes after what does not", l.ID)
				}
			}
			if i > 0 && all[i-1].State == learning.StateProposed && l.State == learning.StateConfirmed {
				t.Fatalf("%s is confirmed, and comes after a proposal", l.ID)
			}
			if l.State == learning.StateConfirmed && l.ConfirmedBy == "" && len(l.Successes) == 0 {
				t.Fatalf("nothing confirmed %+v", l)
			}
		}
		if counting > learning.MaxKept {
			t.Fatalf("%d count", counting)
		}
		if again := b.List(at, well); !slices.EqualFunc(all, again, func(a, b learning.Learning) bool { return a.ID == b.ID && a.State == b.State }) {
			t.Fatal("the list is another one when it is asked for again")
		}
	})
}

func TestOnlySoManyCountAndConfirmedOnesStay(t *testing.T) {
	events := []instance.Event{noted("operator:ann", "", "kept")}
	for i := range learning.MaxKept {
		events = append(events, noted("dev/1", "", fmt.Sprint("n", i)))
	}
	var b learning.Book
	for i, e := range events {
		b.Apply(instance.Commit{At: noon.Add(time.Duration(i) * time.Minute), Events: []instance.Event{e}})
	}
	all := b.List(noon.Add(time.Hour), never)
	if all[0].Text != "kept" || all[learning.MaxKept].Text != "n0" || all[learning.MaxKept].State != learning.StateDisplaced || all[learning.MaxKept-1].State != learning.StateProposed {
		t.Errorf("the first is %+v, the last %+v", all[0], all[learning.MaxKept])
	}
}

func TestOnlyAFactAboutTheRepositoryIsALearning(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"", "  The tests\n need TZ=UTC. "}:         ": The tests need TZ=UTC.",
		{"./pkg//api/", "It is generated."}:         "pkg/api: It is generated.",
		{".", "x"}:                                  ": x",
		{"a/../b", "x"}:                             "b: x",
		{"", " \n"}:                                 "empty",
		{"", strings.Repeat("ä", 501)}:              "501 characters",
		{"..", "x"}:                                 "outside the repository",
		{"a/../../b", "x"}:                          "outside the repository",
		{"/etc", "x"}:                               "outside the repository",
		{"a\u202eb", "x"}:                           "characters that none may",
		{"pkg/*", "x"}:                              "without wildcards",
		{strings.Repeat("a/", 100) + "b", "x"}:      "201 bytes",
		{"", strings.Repeat("ä", learning.MaxText)}: ": " + strings.Repeat("ä", 500),
	} {
		path, text, err := learning.Clean(in[0], in[1])
		got := path + ": " + text
		if err != nil {
			if got = err.Error(); !errors.Is(err, learning.ErrInvalid) || !strings.Contains(got, want) {
				t.Errorf("%.60q: %v, want %q", in, err, want)
			}
		} else if got != want {
			t.Errorf("%.60q is %q, want %q", in, got, want)
		}
	}
}

func TestAPromptGetsWhatFits(t *testing.T) {
	all := listed(never,
		noted("dev/1", "", "proposed", func(l *instance.Learning) { l.Instance = "acme/1" }), noted("dev/1", "", "of a stranger", stranger),
		noted("operator:ann", "", "whole"), noted("operator:ann", "pkg/api", "api"), noted("operator:ann", "docs/a.md", "file"),
		noted("operator:ann", "", "gone"), of("operator:ann", learning.Dropped, learning.ID("", "gone")))
	for name, c := range map[string]struct {
		need learning.Need
		want string
	}{
		"nothing is changed yet":               {learning.Need{}, "whole"},
		"a file below the path":                {learning.Need{Paths: []string{"pkg/api/a.go"}}, "api whole"},
		"a file beside the path":               {learning.Need{Paths: []string{"pkg/apis/a.go", "x/pkg/api/a.go"}}, "whole"},
		"the file itself":                      {learning.Need{Paths: []string{"docs/a.md"}}, "file whole"},
		"the directory of a file":              {learning.Need{Paths: []string{"docs/b.md"}}, "whole"},
		"the issue names it":                   {learning.Need{Text: "In `pkg/api/server.go`, it breaks."}, "api whole"},
		"the issue names it at its end":        {learning.Need{Text: "See docs/a.md."}, "file whole"},
		"the issue names another":              {learning.Need{Text: "see docs/a.mdx, my-docs/a.md and other/pkg/api"}, "whole"},
		"what nothing confirmed, where it may": {learning.Need{Unconfirmed: true}, "whole proposed"},
		"not where it was learned":             {learning.Need{Unconfirmed: true, Instance: "acme/1"}, "whole"},
	} {
		var got []string
		for _, l := range learning.Fit(all, c.need) {
			got = append(got, l.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var many []instance.Event
	for i := range 30 {
		many = append(many, noted("operator:ann", "", fmt.Sprint("c", i)), noted("dev/1", "", fmt.Sprint("p", i)))
	}
	if got := learning.Fit(listed(never, many...), learning.Need{Unconfirmed: true}); len(got) != learning.MaxInPrompt || got[0].Text != "c29" {
		t.Errorf("it gets %s", states(got))
	}
	if got := learning.Fit(listed(never, many[1], many[3], many[5], many[7]), learning.Need{Unconfirmed: true}); len(got) != learning.MaxUnconfirmed {
		t.Errorf("it gets %s", states(got))
	}
}

func TestWhereAStrangerSpokeNothingIsTrusted(t *testing.T) {
	opened := func(permission string) instance.Event {
		return instance.Opened{Issue: instance.Issue{Permission: permission}}
	}
	said := func(name string, data map[string]string) instance.Event {
		return instance.Signalled{Name: name, Data: data}
	}
	for name, c := range map[string]struct {
		events []instance.Event
		want   bool
	}{
		"who reported may write":           {[]instance.Event{opened("write")}, true},
		"a maintainer":                     {[]instance.Event{opened("maintain")}, true},
		"a stranger reported":              {[]instance.Event{opened("read")}, false},
		"nobody asked who reported":        {[]instance.Event{opened("")}, false},
		"one of triage":                    {[]instance.Event{opened("triage")}, false},
		"who may write commented":          {[]instance.Event{opened("admin"), said("commented", map[string]string{"body": "x", "permission": "write"})}, true},
		"a stranger commented":             {[]instance.Event{opened("admin"), said("commented", map[string]string{"body": "x", "permission": "read"})}, false},
		"a stranger reviewed":              {[]instance.Event{opened("admin"), said("reviewed", map[string]string{"body": "x"})}, false},
		"an operator said something":       {[]instance.Event{opened("admin"), said("commented", map[string]string{"body": "x", "operator": "true"})}, true},
		"a stranger's word is no prompt's": {[]instance.Event{opened("admin"), said(instance.Remarked, map[string]string{"body": "x", "permission": "read"})}, true},
		"a signal without a text":          {[]instance.Event{opened("admin"), said("merged", nil)}, true},
		"there is no beginning":            {nil, false},
	} {
		if got := learning.Trusted([]instance.Commit{{Events: c.events}}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatAPersonWithAnAccountOpenedIsTheirWord(t *testing.T) {
	for name, c := range map[string]struct {
		actor string
		issue instance.Issue
		want  bool
	}{
		"without an issue":         {"operator:ann", instance.Issue{Repo: "acme/widgets", Title: "t"}, true},
		"of an issue of the forge": {"operator:ann", instance.Issue{Number: 7}, false},
		"of another's words":       {"operator:ann", instance.Issue{Author: "eve"}, false},
		"with an address":          {"operator:ann", instance.Issue{URL: "https://forge/acme/widgets/issues/7"}, false},
		"of who may only read":     {"operator:ann", instance.Issue{Permission: "read"}, false},
		"by the gateway":           {"gateway", instance.Issue{}, false},
		"by a login of the forge":  {"ann", instance.Issue{}, false},
		"by nobody attested":       {"operator", instance.Issue{}, false},
		"by an operator unnamed":   {"operator:", instance.Issue{}, false},
		"by an agent":              {"developer/operator:ann", instance.Issue{}, false},
	} {
		opened := instance.Commit{Actor: c.actor, Events: []instance.Event{instance.Opened{Issue: c.issue}}}
		if got := learning.Trusted([]instance.Commit{opened}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		stranger := instance.Commit{Actor: c.actor, Events: []instance.Event{instance.Signalled{Name: "commented", Data: map[string]string{"body": "x", "permission": "read"}}}}
		if learning.Trusted([]instance.Commit{opened, stranger}) {
			t.Errorf("%s: a stranger's comment is trusted", name)
		}
	}
}

func TestAStandingSaysWhoSaysSo(t *testing.T) {
	id := learning.ID("", "TZ")
	at := func(l *instance.Learning) { l.Instance = "acme/1" }
	well := func(id string) bool { return strings.HasPrefix(id, "good") }
	for want, events := range map[string][]instance.Event{
		"confirmed by ann":                                                        {noted("operator:ann", "", "TZ")},
		"noted by ann in acme/1, not confirmed":                                   {noted("operator:ann", "", "TZ", at)},
		"noted by ann, confirmed by bob":                                          {noted("operator:ann", "", "TZ"), of("operator:bob", learning.Confirmed, id)},
		"proposed by the developer in acme/1, not confirmed":                      {noted("developer/a-1", "", "TZ", at)},
		"proposed by the developer in acme/1, confirmed by ann":                   {noted("developer/a-1", "", "TZ", at), of("operator:ann", learning.Confirmed, id)},
		"proposed by the developer in acme/1, there when work ended well once":    {noted("developer/a-1", "", "TZ", at), of("good/1", learning.Used, id)},
		"proposed by the developer in acme/1, there when work ended well 2 times": {noted("developer/a-1", "", "TZ", at), of("good/1", learning.Used, id), of("good/2", learning.Used, id)},
		"proposed by the pm in acme/1, not confirmed, where a person spoke who may not write to the repository, or of whom that is not known": {noted("pm/a-1", "", "TZ", at, stranger)},
		"confirmed by ann, removed by bob": {noted("operator:ann", "", "TZ"), of("operator:bob", learning.Dropped, id)},
	} {
		if got := listed(well, events...)[0].Standing(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	var b learning.Book
	b.Apply(instance.Commit{At: noon, Events: []instance.Event{noted("operator:ann", "", "TZ")}})
	if got := b.List(noon.Add(learning.MaxAge), never)[0].Standing(); got != "confirmed by ann, nothing since 2026-01-02" {
		t.Error(got)
	}
}
