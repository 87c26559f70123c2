package instance_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

var update = flag.Bool("update", false, "write what the scripts in testdata really print")

// TestScripts runs the scripts in testdata. Below each command stands, indented,
// what it records. Lines that begin with | are the lifecycle, by default the issue
// lifecycle; after the opening they are the one that migrate leads to. A command is
//
//	VERB WORD… KEY=VALUE…
//
// with values in quotes where they have spaces. Keys any command takes: actor, id.
//
//	policy NAME=VALUE…                 changes the issue lifecycle; only as the first command
//	at +31s                            advances the clock
//	again                               starts another instance
//	show                               prints the instance
//	open title= author= base= state= set=NAME:VALUE after= parent=
//	claim ROLE AGENT work= lease=      work: default the newest
//	waits ROLE AGENT lease=            waits for work from now on
//	lapse work=                        as for a claim
//	heartbeat lease=                   token=, here and below: default the newest
//	report STATUS confidence= next= question= answer=N:TEXT issue= head= base= tests=pass|NAME signature= usd=
//	       summary= set=NAME:VALUE check=NAME:VERDICT section=NAME:JSON
//	release reason= · fail reason= · ask TEXT · spend usd=
//	inquire ROLE TEXT… · escalate REASON human=false · resolve TEXT number=
//	       head= bundle= section=NAME:JSON, both
//	signal NAME actor= ref= check=NAME:VERDICT KEY=VALUE…
//	expire LEVEL entered=              entered: default the newest
//	wake until=+15m                    from now; default the end of the park
//	end INSTANCE STATE well=false
//	answer N TEXT · note KIND TEXT · override STATE reason=
//	pause reason= · resume reason= · cancel reason= · reopen to= reason= · retry reason= · migrate reason=
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s: -script +played; -run TestScripts -update writes it:\n%s", file, diff)
			}
		})
	}
}

// play returns the script with what each command really records.
func play(t *testing.T, script string) string {
	s := newFixture(issue(t))
	var out, lifecycle strings.Builder
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "  ") {
			continue // output
		}
		out.WriteString(line)
		if text, is := strings.CutPrefix(line, "|"); is {
			lifecycle.WriteString(strings.TrimPrefix(text, " "))
			continue
		}
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if lifecycle.Len() > 0 {
			s.next = define(t, lifecycle.String())
			lifecycle.Reset()
			if !s.in.Exists() {
				*s = *newFixture(s.next)
			}
		}
		c := parse(t, line)
		for _, said := range s.play(t, c) {
			fmt.Fprintln(&out, "  "+said)
		}
		if len(c.keys) > 0 || len(c.words) > 0 {
			t.Fatalf("%s: unknown: %v %v", line, c.words, slices.Sorted(maps.Keys(c.keys)))
		}
	}
	return out.String()
}

func (s *fixture) play(t *testing.T, c *scriptLine) []string {
	switch c.verb {
	case "policy":
		var policy []string
		for name := range c.keys {
			policy = append(policy, name+": "+c.key(name, ""))
		}
		*s = *newFixture(issue(t, policy...))
		return nil
	case "at":
		s.now = s.now.Add(c.duration(c.word()))
		return nil
	case "again":
		*s = *newFixture(s.def)
		return nil
	case "show":
		return formatInstance(s.in)
	case "waits":
		s.waiting = append(s.waiting, instance.Claim{Role: c.word(), Agent: c.word(), Lease: c.duration(c.key("lease", "30s"))})
		return nil
	}
	cmd := s.command(c.key("actor", ""), nil)
	cmd.ID = c.key("id", cmd.ID)
	cmd.Do = c.action(s)
	def := s.def
	if c.verb == "migrate" && s.next != nil {
		s.def = s.next
	}
	commit, err := s.send(cmd)
	if err != nil {
		s.def = def
	}
	var no *instance.Refusal
	if errors.As(err, &no) {
		return []string{fmt.Sprintf("REFUSED %s: %s", no.Code, strings.TrimPrefix(no.Error(), no.Instance+": "))}
	}
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(commit.Events))
	for i, e := range commit.Events {
		said[i] = fmt.Sprintf("%d %s", commit.Seq, formatEvent(t, e))
	}
	return said
}

// scriptLine is a parsed command. Reading a word or a key removes it: what remains is unknown.
type scriptLine struct {
	*testing.T
	line  string
	verb  string
	words []string
	keys  map[string][]string
}

func parse(t *testing.T, line string) *scriptLine {
	c := &scriptLine{T: t, line: line, keys: map[string][]string{}}
	quoted := false
	for i, f := range strings.FieldsFunc(line, func(r rune) bool {
		quoted = quoted != (r == '"')
		return r == ' ' && !quoted
	}) {
		key, value, isKey := strings.Cut(f, "=")
		switch {
		case i == 0:
			c.verb = f
		case isKey && !strings.HasPrefix(f, `"`):
			c.keys[key] = append(c.keys[key], strings.Trim(value, `"`))
		default:
			c.words = append(c.words, strings.Trim(f, `"`))
		}
	}
	return c
}

func (c *scriptLine) word() string {
	if len(c.words) == 0 {
		c.Fatalf("%s: a word is missing", c.line)
	}
	w := c.words[0]
	c.words = c.words[1:]
	return w
}

func (c *scriptLine) all(key string) []string {
	values := c.keys[key]
	delete(c.keys, key)
	return values
}

func (c *scriptLine) key(key, otherwise string) string {
	if values := c.all(key); len(values) > 0 {
		return values[len(values)-1]
	}
	return otherwise
}

func (c *scriptLine) duration(text string) time.Duration { return must(c, text, time.ParseDuration) }
func (c *scriptLine) float(text string) float64 {
	return must(c, text, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}
func (c *scriptLine) count(text string, otherwise uint64) uint64 {
	if text == "" {
		return otherwise
	}
	return must(c, text, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
}

func must[T any](c *scriptLine, text string, parse func(string) (T, error)) T {
	v, err := parse(text)
	if err != nil {
		c.Fatalf("%s: %v", c.line, err)
	}
	return v
}
