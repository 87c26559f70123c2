package eventstore

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// history is a sound instance of n commits at sequences 2, 4, 6, …
func history(n int) []Commit {
	var cs []Commit
	var last Commit
	for i := range n {
		c := Commit{
			ID: "cmd-" + string(rune('a'+i)), Workflow: "issue", State: "received", Instance: "acme/widgets/42",
			Wakes: i%2 == 0, Time: time.Unix(int64(i), 7).UTC(), Prev: last.Seq, Data: []byte{byte(i)}, Seq: last.Seq + 2,
		}
		c.Chain = NextChain(last.Chain, c)
		cs, last = append(cs, c), c
	}
	return cs
}

func TestNextChain(t *testing.T) {
	t.Run("is the documented hash", func(t *testing.T) {
		// printf '0:,5:cmd-a,5:issue,8:received,15:acme/widgets/42,4:work,30:1970-01-01T00:00:00.000000007Z,1:0,1:\0,' | sha256sum
		const want = "1bc62d874ebaa9e83501eab00336dc1bdb5b0f5e8a769cd29c72e1494d7f6d4a"
		if got := history(1)[0].Chain; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
	t.Run("does not depend on the time zone", func(t *testing.T) {
		c := history(1)[0]
		c.Time = c.Time.In(time.FixedZone("east", 3600))
		if NextChain("", c) != c.Chain {
			t.Fatal("another zone gave another chain")
		}
	})
	t.Run("does not take one field's bytes for another's", func(t *testing.T) {
		a, b := history(1)[0], history(1)[0]
		a.Workflow, a.State = "ab", "c"
		b.Workflow, b.State = "a", "bc"
		if NextChain("", a) == NextChain("", b) {
			t.Fatal("two commits share a chain")
		}
	})
}

func TestVerifyChain(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]Commit) []Commit
		want   string // in the error; empty: sound
	}{
		{"takes a sound history", func(cs []Commit) []Commit { return cs }, ""},
		{"takes an empty history", func([]Commit) []Commit { return nil }, ""},
		{"does not mind the trace", func(cs []Commit) []Commit { cs[1].Trace = "x"; return cs }, ""},
		{"sees changed data", func(cs []Commit) []Commit { cs[1].Data = []byte("!"); return cs }, "sequence 4"},
		{"sees a changed id", func(cs []Commit) []Commit { cs[1].ID = "!"; return cs }, "sequence 4"},
		{"sees a changed workflow", func(cs []Commit) []Commit { cs[1].Workflow = "x"; return cs }, "sequence 4"},
		{"sees a changed state", func(cs []Commit) []Commit { cs[1].State = "x"; return cs }, "sequence 4"},
		{"sees a changed instance", func(cs []Commit) []Commit { cs[1].Instance = "x"; return cs }, "another instance"},
		{"sees a renamed instance", func(cs []Commit) []Commit {
			for i := range cs {
				cs[i].Instance = "x"
			}
			return cs
		}, "sequence 2"},
		{"sees work made a note", func(cs []Commit) []Commit { cs[2].Wakes = false; return cs }, "sequence 6"},
		{"sees a nanosecond", func(cs []Commit) []Commit { cs[1].Time = cs[1].Time.Add(1); return cs }, "sequence 4"},
		{"sees a missing first", func(cs []Commit) []Commit { return cs[1:] }, "sequence 4"},
		{"sees a missing middle", func(cs []Commit) []Commit { return slices.Delete(cs, 1, 2) }, "it follows 4, want 2"},
		{"sees two swapped", func(cs []Commit) []Commit { cs[1], cs[2] = cs[2], cs[1]; return cs }, "sequence 6"},
		{"sees a moved pointer", func(cs []Commit) []Commit { cs[2].Prev = 2; return cs }, "it follows 2, want 4"},
		{"sees a sequence that goes back", func(cs []Commit) []Commit { cs[1].Seq = 1; return cs }, "it comes after 2"},
		{"sees a rewritten past", func(cs []Commit) []Commit {
			cs[0].Data = []byte("!")
			cs[0].Chain = NextChain("", cs[0])
			return cs
		}, "sequence 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := VerifyChain(c.damage(history(4)))
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("got %v, want ErrCorrupt with %q", err, c.want)
			}
		})
	}
	t.Run("sees any one flipped bit of data", rapid.MakeCheck(func(t *rapid.T) {
		cs := history(rapid.IntRange(1, 8).Draw(t, "length"))
		c := &cs[rapid.IntRange(0, len(cs)-1).Draw(t, "commit")]
		c.Data[0] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if err := VerifyChain(cs); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("got %v, want ErrCorrupt", err)
		}
	}))
}

func TestVerifier(t *testing.T) {
	t.Run("follows interleaved instances", func(t *testing.T) {
		a, b := history(3), history(3)
		var last Commit
		for i := range b {
			b[i].Instance = "other"
			b[i].Chain = NextChain(last.Chain, b[i])
			last = b[i]
		}
		var v Verifier
		for i := range a {
			for _, c := range []Commit{a[i], b[i]} {
				if err := v.Add(c); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	t.Run("reports one break once", func(t *testing.T) {
		cs := slices.Delete(history(4), 1, 2)
		var v Verifier
		var breaks int
		for _, c := range cs {
			if v.Add(c) != nil {
				breaks++
			}
		}
		if breaks != 1 {
			t.Fatalf("got %d breaks, want 1", breaks)
		}
	})
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Commit)
		want   error
	}{
		{"takes a sound commit", func(*Commit) {}, nil},
		{"takes no data", func(c *Commit) { c.Data = nil }, nil},
		{"takes the most data", func(c *Commit) { c.Data = make([]byte, MaxData) }, nil},
		{"refuses a byte more", func(c *Commit) { c.Data = make([]byte, MaxData+1) }, ErrTooLarge},
		{"refuses no id", func(c *Commit) { c.ID = "" }, ErrInvalid},
		{"refuses an id that breaks a header", func(c *Commit) { c.ID = "a\r\nb" }, ErrInvalid},
		{"refuses an id with a space", func(c *Commit) { c.ID = " a" }, ErrInvalid},
		{"refuses a trace that breaks a header", func(c *Commit) { c.Trace = "a\nb" }, ErrInvalid},
		{"refuses an id of 129 characters", func(c *Commit) { c.ID = strings.Repeat("x", 129) }, ErrInvalid},
		{"refuses a chain in upper case", func(c *Commit) { c.Chain = strings.ToUpper(c.Chain) }, ErrInvalid},
		{"refuses no chain", func(c *Commit) { c.Chain = "" }, ErrInvalid},
		{"refuses no instance", func(c *Commit) { c.Instance = "" }, ErrInvalid},
		{"refuses a state that is no name", func(c *Commit) { c.State = "A.B" }, ErrInvalid},
		{"refuses a time RFC 3339 cannot write", func(c *Commit) { c.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			commit := history(1)[0]
			c.change(&commit)
			if err := commit.Check(); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}
