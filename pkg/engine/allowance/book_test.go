package allowance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// place asks for one that is as soon as can be, within ten seconds.
func place(creates bool, now time.Time) *Place {
	return &Place{Creates: creates, Pace: time.Second, After: now, Latest: now.Add(10 * time.Second)}
}

var (
	ours   = Name("forge", "ours")
	theirs = Name("forge", "theirs")
)

func ask(t *testing.T, b *Book, a Ask, now time.Time) Answer {
	t.Helper()
	answer, err := b.Ask(a, now)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestPlacesOfAHolderAreAPaceApartWhoeverAsks(t *testing.T) {
	b := NewBook()
	for i := range 11 {
		for _, holder := range []string{ours, theirs} {
			if got := ask(t, b, Ask{Holder: holder, Place: place(false, at)}, at); !got.Taken || !got.At.Equal(at.Add(time.Duration(i)*time.Second)) {
				t.Errorf("%d: %+v", i, got)
			}
		}
	}
	late := ask(t, b, Ask{Holder: ours, Place: place(false, at)}, at)
	if late.Taken || !late.At.Equal(at.Add(11*time.Second)) {
		t.Errorf("what comes too late: %+v", late)
	}
	if again := ask(t, b, Ask{Holder: ours, Place: place(false, at)}, at); again.At != late.At {
		t.Errorf("what is not taken has taken a place: %+v", again)
	}
}

func TestAPlaceIsNotBeforeWhatItsProcessKnows(t *testing.T) {
	b, p := NewBook(), place(true, at)
	p.After = at.Add(4 * time.Second)
	if got := ask(t, b, Ask{Holder: ours, Place: p}, at); !got.Taken || !got.At.Equal(p.After) {
		t.Errorf("%+v", got)
	}
	if got := ask(t, b, Ask{Holder: ours, Place: place(true, at)}, at); !got.At.Equal(at.Add(5 * time.Second)) {
		t.Errorf("the next one: %+v", got)
	}
}

// Any number of processes, whatever they ask for and whenever.
func TestPlacesKeepWithinWhatGitHubPermits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, now := NewBook(), at
		var writes, creations []time.Time
		for range rapid.IntRange(1, 700).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "pause")) * time.Millisecond)
			p := place(rapid.Bool().Draw(t, "creates"), now)
			p.After = now.Add(time.Duration(rapid.IntRange(-1000, 3000).Draw(t, "after")) * time.Millisecond)
			got, err := b.Ask(Ask{Holder: ours, Place: p}, now)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Taken {
				continue
			}
			if got.At.Before(now) || got.At.Before(p.After) || got.At.After(p.Latest) {
				t.Fatalf("the place is at %v, want one from %v to %v", got.At, p.After, p.Latest)
			}
			writes = append(writes, got.At)
			if p.Creates {
				creations = append(creations, got.At)
			}
		}
		if n := most(writes, time.Second); n > 1 {
			t.Errorf("%d writes in a second", n)
		}
		if n := most(creations, time.Minute); n > contentsAMinute {
			t.Errorf("%d creations in a minute", n)
		}
	})
}

func TestALimitThatOneHasToldStopsThePlacesOfItsHolder(t *testing.T) {
	b, until := NewBook(), at.Add(5*time.Minute)
	told := Ask{Holder: ours, Told: []Limit{{Until: until, Words: "403 slow down"}}}
	if got := ask(t, b, told, at); !got.News || len(got.Limits) != 1 || got.Limits[0] != told.Told[0] {
		t.Errorf("%+v", got)
	}
	if got := ask(t, b, told, at); got.News {
		t.Error("it is news again")
	}
	if got := ask(t, b, Ask{Holder: ours, Place: place(false, at)}, at); got.Taken || !got.At.IsZero() || got.Limits[0] != told.Told[0] {
		t.Errorf("while it holds: %+v", got)
	}
	if got := ask(t, b, Ask{Holder: theirs, Place: place(false, at)}, at); !got.Taken || len(got.Limits) != 0 {
		t.Errorf("another holder: %+v", got)
	}
	if got := ask(t, b, Ask{Holder: ours, Place: place(false, until)}, until); !got.Taken || !got.At.Equal(until) || len(got.Limits) != 0 {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestALimitOfOneResourceIsForThoseWhoAskForIt(t *testing.T) {
	b, spent := NewBook(), Limit{Resource: "graphql", Until: at.Add(20 * time.Minute), Hour: 5000}
	ask(t, b, Ask{Holder: ours, Told: []Limit{spent}}, at)
	got := ask(t, b, Ask{Holder: ours, Place: place(false, at)}, at)
	if !got.Taken || !slices.Equal(got.Limits, []Limit{spent}) {
		t.Errorf("%+v", got)
	}
}

func TestAProcessThatLiesIsHeldWithinBounds(t *testing.T) {
	t.Run("a limit ends within an hour", func(t *testing.T) {
		got := ask(t, NewBook(), Ask{Holder: ours, Told: []Limit{{Until: at.Add(1000 * time.Hour)}}}, at)
		if !got.Limits[0].Until.Equal(at.Add(MaxAhead)) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a limit that is over is none", func(t *testing.T) {
		if got := ask(t, NewBook(), Ask{Holder: ours, Told: []Limit{{Until: at}}}, at); got.News || len(got.Limits) > 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a place is within a minute", func(t *testing.T) {
		b := NewBook()
		for want := range 62 {
			got := ask(t, b, Ask{Holder: ours, Place: &Place{Pace: time.Second, Latest: at.Add(1000 * time.Hour)}}, at)
			if got.Taken != (want <= 60) {
				t.Errorf("%d: %+v", want, got)
			}
		}
	})
	t.Run("a pace is a minute at most", func(t *testing.T) {
		b := NewBook()
		for range 2 {
			got := ask(t, b, Ask{Holder: ours, Place: &Place{Pace: 1000 * time.Hour, Latest: at.Add(time.Hour)}}, at)
			if !got.Taken {
				t.Errorf("%+v", got)
			}
		}
	})
	t.Run("the words are short and show what they are", func(t *testing.T) {
		for _, said := range []string{strings.Repeat("ä", 1000), "\x1b[2J\u202eabc\xff\nnext", strings.Repeat("\u202e", 500)} {
			got := ask(t, NewBook(), Ask{Holder: ours, Told: []Limit{{Until: at.Add(time.Minute), Words: said}}}, at)
			words := got.Limits[0].Words
			if len(words) > MaxWords || !utf8.ValidString(words) || strings.ContainsAny(words, "\x1b\u202e\n") {
				t.Errorf("%q", words)
			}
		}
	})
	t.Run("of so many resources there are limits", func(t *testing.T) {
		b := NewBook()
		var got Answer
		for i := range 100 {
			got = ask(t, b, Ask{Holder: ours, Told: []Limit{{Resource: fmt.Sprint("r", i), Until: at.Add(time.Minute)}}}, at)
		}
		if len(got.Limits) != maxResources {
			t.Errorf("%d limits are kept", len(got.Limits))
		}
		later := at.Add(time.Hour)
		if got = ask(t, b, Ask{Holder: ours, Told: []Limit{{Resource: "core", Until: later.Add(time.Minute)}}}, later); len(got.Limits) != 1 || !got.News {
			t.Errorf("when those are over: %+v", got)
		}
	})
	t.Run("of so many holders there are accounts", func(t *testing.T) {
		b := NewBook()
		for i := range MaxHolders {
			ask(t, b, Ask{Holder: Name(fmt.Sprint(i)), Told: []Limit{{Until: at.Add(time.Minute)}}}, at)
		}
		if _, err := b.Ask(Ask{Holder: ours, Place: place(false, at)}, at); !errors.Is(err, ErrFull) {
			t.Errorf("one more: %v", err)
		}
		ask(t, b, Ask{Holder: Name("0"), Place: place(false, at)}, at)
		later := at.Add(2 * time.Minute)
		if ask(t, b, Ask{Holder: ours, Place: place(false, later)}, later); len(b.holders) != 1 {
			t.Errorf("%d holders, when those are idle", len(b.holders))
		}
	})
}

func TestWhatIsNoQuestionIsRefused(t *testing.T) {
	until := at.Add(time.Minute)
	for name, a := range map[string]Ask{
		"no holder":                  {},
		"a token":                    {Holder: "ghp_0123456789"},
		"half a hash":                {Holder: ours[:32]},
		"no hash":                    {Holder: strings.Repeat("x", 64)},
		"a place without a pace":     {Holder: ours, Place: &Place{Latest: until}},
		"a resource with a newline":  {Holder: ours, Told: []Limit{{Resource: "core\n", Until: until}}},
		"a resource of a page":       {Holder: ours, Told: []Limit{{Resource: strings.Repeat("a", 41), Until: until}}},
		"less than no requests":      {Holder: ours, Told: []Limit{{Resource: "core", Until: until, Hour: -1}}},
		"more limits than there are": {Holder: ours, Told: make([]Limit, 18)},
	} {
		if _, err := NewBook().Ask(a, at); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheNameOfAHolderHasNothingOfIt(t *testing.T) {
	const token = "ghp_0123456789"
	if got := Name("api.github.com", token); len(got) != 64 || strings.Contains(got, token) {
		t.Error(got)
	}
	names := []string{Name("a", "b"), Name("b", "a"), Name("a"), Name("ab"), ours, theirs}
	if slices.Sort(names); len(slices.Compact(names)) != 6 {
		t.Errorf("two holders have one name: %v", names)
	}
}
