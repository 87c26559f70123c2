package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// generated is a sound definition with everything in it that can vary.
func generated(t *rapid.T) *Definition {
	states := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,12}`), 2, 6, rapid.ID).Draw(t, "states")
	words := rapid.String().Filter(func(s string) bool { return strings.TrimSpace(s) != "" && !strings.Contains(s, "${") })
	maybe := func(label string) string {
		if rapid.Bool().Draw(t, "has "+label) {
			return words.Draw(t, label)
		}
		return ""
	}
	number := rapid.IntRange(1, 1000)
	guard := func() Guard {
		return Guard{Source: rapid.SampledFrom([]string{
			`result.status == 'success'`, `instance.returns >= policy.whole`, `'a: b # c' in evidence`,
			"policy.text == \"two\\nlines\" ||\n  policy.flag", `policy.real > 0.5`, `vars.round > 2 && vars.phase != ''`,
		}).Draw(t, "guard")}
	}
	target := func() []string {
		return rapid.SliceOfN(rapid.SampledFrom(append([]string{Previous}, states...)), 1, 3).Draw(t, "to")
	}
	entered := func() []string {
		return rapid.SliceOfN(rapid.SampledFrom(states), 1, 3).Draw(t, "to")
	}
	rules := func(most int) []Rule {
		var list []Rule
		for range rapid.IntRange(0, most).Draw(t, "rules") {
			r := Rule{Reason: maybe("reason")}
			switch rapid.IntRange(0, 3).Draw(t, "does") {
			case 0:
				r.Escalate = true
			case 1:
				r.Stay.Source = rapid.SampledFrom([]string{"now", "signal", "1h30m0s", "${policy.wait}"}).Draw(t, "stay")
			default:
				r.To, r.ResetsFailures, r.Failure = target(), rapid.Bool().Draw(t, "fresh"), rapid.Bool().Draw(t, "failure")
			}
			r.Set = rapid.SampledFrom([]map[string]string{nil, {"round": "-3"}, {"phase": "a: \"b\"", "sure": "1e+30", "asked": "true"}}).Draw(t, "set")
			if rapid.Bool().Draw(t, "guarded") {
				r.When = guard()
			}
			list = append(list, r)
		}
		return list
	}
	d := &Definition{
		Name:    rapid.SampledFrom([]string{"w", "null", "on", "1e5", "0x10", "true", "a-b", "2024-01-01"}).Draw(t, "name"),
		Version: number.Draw(t, "version"), Initial: states[0],
		Policy: map[string]any{
			"whole": rapid.Int64().Draw(t, "whole"), "real": rapid.Float64Range(-1e300, 1e300).Draw(t, "real"),
			"flag": rapid.Bool().Draw(t, "flag"), "text": words.Draw(t, "text"), "wait": "90m",
		},
		Vars: map[string]any{"round": int64(0), "phase": words.Draw(t, "phase"), "sure": 0.5, "asked": false},
	}
	decorate(t, d)
	if rapid.Bool().Draw(t, "has loop") {
		d.Loop.Distinct = number.Draw(t, "distinct")
		d.Loop.Window = d.Loop.Distinct + number.Draw(t, "window")
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "limits") {
		d.Limits = append(d.Limits, Rule{Name: fmt.Sprintf("limit %d", i), When: guard(), To: entered(), Reason: maybe("reason")})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "gates") {
		d.Gates = append(d.Gates, Gate{Name: fmt.Sprintf("gate %d", i), To: entered(), Require: guard(), Instead: entered(), Reason: maybe("reason")})
	}
	for _, name := range states {
		s := State{Name: name, About: maybe("about")}
		s.Kind = rapid.SampledFrom([]Kind{Work, Wait, Final}).Draw(t, "kind")
		s.Tell = rapid.Bool().Draw(t, "tell")
		for range rapid.IntRange(0, 2).Draw(t, "spawns") {
			s.Spawns = append(s.Spawns, Spawn{When: guard(), Workflow: "story", State: rapid.SampledFrom([]string{"", "pushed"}).Draw(t, "opens in"), Reason: maybe("reason")})
		}
		if s.Kind != Final {
			s.Always = rules(2)
			for range rapid.IntRange(0, 2).Draw(t, "asks") {
				s.Asks = append(s.Asks, Inquiry{When: guard(), To: "dev", Text: words.Draw(t, "text")})
			}
			s.Timeout = time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "timeout"))
			for _, to := range rapid.SliceOfDistinct(rapid.SampledFrom(states), rapid.ID).Draw(t, "next") {
				s.Next = append(s.Next, Transition{To: to, Added: maybe("added")})
			}
			for _, signal := range []string{"commented", "no"} {
				if list := rules(2); list != nil {
					s.On = merge(s.On, signal, list)
				}
			}
		}
		if s.Kind == Work {
			s.Owner, s.Proposes, s.Decide = "dev", rapid.Bool().Draw(t, "proposes"), rules(3)
			s.Writes = rapid.SampledFrom([][]string{nil, {"triage"}, {"no", "build_result"}}).Draw(t, "writes")
		}
		d.States = append(d.States, s)
	}
	return d
}

// decorate draws the keys of the head that not every definition has.
func decorate(t *rapid.T, d *Definition) {
	if rapid.Bool().Draw(t, "ordered") {
		d.Order = []Guard{{Source: "'URGENT' in issue.labels ? 0 : 1"}, {Source: "vars.round"}}
	}
	if rapid.Bool().Draw(t, "restricted") {
		d.May = map[string][]string{"override": {Human}, "cancel": {Human}}
	}
	if rapid.Bool().Draw(t, "resolved") {
		d.Resolves = []Resolve{{Signal: "commented", When: Guard{Source: "signal.actor != ''"}}, {Signal: "no", When: Guard{Source: "true"}}}
	}
}

func merge(on map[string][]Rule, signal string, rules []Rule) map[string][]Rule {
	if on == nil {
		on = map[string][]Rule{}
	}
	on[signal] = rules
	return on
}

func TestEveryDefinitionLoadsFromItsSourceUnderTheSameHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := generated(t)
		source := d.Source()
		loaded, err := Load("generated.yaml", source)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		if again := loaded.Source(); string(again) != string(source) {
			t.Fatalf("got\n%s\nwant\n%s", again, source)
		}
		if loaded.Hash != hash(d) {
			t.Fatalf("hash %s, want %s", loaded.Hash, hash(d))
		}
	})
}

func TestBuiltinsLoadFromTheirSourceUnderTheSameHash(t *testing.T) {
	for _, d := range builtins(t) {
		t.Run(d.Name, func(t *testing.T) {
			again, err := Load("stored", d.Source())
			if err != nil {
				t.Fatal(err)
			}
			if again.Hash != d.Hash {
				t.Errorf("hash %s, want %s", again.Hash, d.Hash)
			}
		})
	}
}

func TestTheHashIgnoresHowTheFileIsWritten(t *testing.T) {
	want := loaded(t, small).Hash
	for name, src := range map[string]string{
		"comments": "# by us\n" + strings.ReplaceAll(small, "version: 1\n", "version: 1 # one\n\n"),
		"quotes":   strings.ReplaceAll(small, "when: instance.returns >= policy.most", `when: "instance.returns >= policy.most"`),
		"a folded guard": strings.ReplaceAll(small, "abandoned: [{when: signal.actor != '', to: done}]",
			"abandoned:\n        - when: >-\n            signal.actor\n            != ''\n          to: done"),
		"order of keys":    strings.ReplaceAll(small, "workflow: small\nversion: 1\n", "version: 1\nworkflow: small\n"),
		"a list of one":    strings.ReplaceAll(small, "commented: open", "commented: [{to: [open]}]"),
		"a default stated": strings.ReplaceAll(small, "owner: dev", "owner: dev\n    proposes: true"),
		"another duration": strings.ReplaceAll(small, "15m", "900s"),
	} {
		t.Run(name, func(t *testing.T) {
			if src == small {
				t.Fatal("nothing is changed")
			}
			if got := loaded(t, src).Hash; got != want {
				t.Errorf("hash %s, want %s", got, want)
			}
		})
	}
}

func TestTheHashChangesWithWhateverDecides(t *testing.T) {
	seen := map[string]string{loaded(t, small).Hash: "the original"}
	for _, c := range []struct{ name, old, new string }{
		{"the name", "workflow: small", "workflow: tiny"},
		{"the version", "version: 1", "version: 2"},
		{"the initial state", "initial: open", "initial: waiting"},
		{"a policy value", "most: 3", "most: 4"},
		{"a policy type", "sure: 0.5", "sure: 0.5, spare: 1.0"},
		{"a policy type, whole", "sure: 0.5", "sure: 0.5, spare: 1"},
		{"the loop", "window: 3", "window: 4"},
		{"a limit's guard", "instance.returns", "instance.iteration"},
		{"a limit's target", "to: done, reason", "to: waiting, reason"},
		{"a reason", "reason: enough", "reason: too much"},
		{"a gate's requirement", "'tests' in", "'lint' in"},
		{"a gate's way out", "instead: open", "instead: waiting"},
		{"an owner", "owner: dev", "owner: tester"},
		{"a timeout", "15m", "16m"},
		{"the order of a row", "[open, waiting, done]\n", "[waiting, open, done]\n"},
		{"a row", "[open, waiting, done]\n", "[open, waiting, done, other]\n"},
		{"the order of targets", "to: [waiting, done]", "to: [done, waiting]"},
		{"a failure", ", failure: true", ""},
		{"an addition's reason", "people may end it", "people can end it"},
		{"a signal", "commented:", "spoke:"},
		{"a reaction", "commented: open", "commented: done"},
		{"proposals", "owner: dev", "owner: dev\n    proposes: false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(small, c.old, c.new, 1)
			if strings.Contains(src, "other") {
				src += "  other: {final: true}\n"
			}
			got := loaded(t, src).Hash
			if other, ok := seen[got]; ok {
				t.Errorf("the hash is that of %s", other)
			}
			seen[got] = c.name
		})
	}
}

func loaded(t testing.TB, src string) *Definition {
	t.Helper()
	d, err := Load("small.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return d
}
