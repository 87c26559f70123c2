package workflow

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// small is a sound definition; tests break one line of it.
const small = `workflow: small
version: 1
initial: open
policy: {most: 3, sure: 0.5}
loop: {window: 3, distinct: 2}
limits:
  - {name: budget, when: instance.returns >= policy.most, to: done, reason: enough}
gates:
  - {name: checked, to: done, require: "'tests' in evidence", instead: open}
states:
  open:
    about: A person works.
    owner: dev
    timeout: 15m
    next: [open, waiting, done]
    decide:
      - {when: result.confidence_score > policy.sure, to: done}
      - {to: [waiting, done], failure: true}
  waiting:
    next: [open, {to: done, added: people may end it}]
    on:
      commented: open
      abandoned: [{when: signal.actor != '', to: done}]
  done: {final: true}
`

func TestLoadReadsEverything(t *testing.T) {
	d, err := Load("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	open, _ := d.State("open")
	waiting, _ := d.State("waiting")
	done, _ := d.State("done")
	if open.Kind != Work || !open.Proposes || open.Timeout != 15*time.Minute || open.About != "A person works." {
		t.Errorf("open is %+v", open)
	}
	if waiting.Kind != Wait || waiting.Proposes || waiting.Next[1].Added != "people may end it" || waiting.On["commented"][0].To[0] != "open" {
		t.Errorf("waiting is %+v", waiting)
	}
	if done.Kind != Final {
		t.Errorf("done is %+v", done)
	}
	if last := open.Decide[1]; !last.When.Always() || !last.Failure || !cmp.Equal(last.To, []string{"waiting", "done"}) {
		t.Errorf("the last rule is %+v", last)
	}
	if diff := cmp.Diff(map[string]any{"most": int64(3), "sure": 0.5}, d.Policy); diff != "" {
		t.Error(diff)
	}
	if !d.Permits("open", "waiting") || d.Permits("done", "open") || d.Permits("nowhere", "open") {
		t.Error("Permits does not follow the table")
	}
	if diff := cmp.Diff([]string{"dev"}, d.Roles()); diff != "" {
		t.Error(diff)
	}
}

func TestLoadSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"a key nobody knows", "version: 1", "verzion: 1", `small.yaml:2:1: unknown key "verzion"; did you mean "version"?`},
		{"a key nobody knows in a state", "about: A person", "abuot: A person", `small.yaml:12:5: unknown key "abuot"; did you mean "about"?`},
		{"a key nobody knows in a rule", "failure: true", "fail: true", `small.yaml:18:31: unknown key "fail"`},
		{"a key nobody knows in a gate", "instead: open", "insted: open", `small.yaml:9:63: unknown key "insted"; did you mean "instead"?`},
		{"an unknown next state", "next: [open, waiting, done]", "next: [open, wating, done]", `small.yaml:15:18: unknown state "wating"; did you mean "waiting"?`},
		{"an unknown target", "commented: open", "commented: opne", `small.yaml:22:18: unknown state "opne"; did you mean "open"?`},
		{"an unknown target of a limit", "to: done, reason", "to: dnoe, reason", `small.yaml:7:63: unknown state "dnoe"; did you mean "done"?`},
		{"an unknown initial state", "initial: open", "initial: opened", `small.yaml:3:10: unknown state "opened"; did you mean "open"?`},
		{"an unknown state nothing is like", "initial: open", "initial: zzzzzz", `small.yaml:3:10: unknown state "zzzzzz"`},
		{"a state that is there twice", "  done: {final: true}", "  done: {final: true}\n  open: {final: true}", `small.yaml:25:3: "open" is there twice`},
		{"a move that is there twice", "[open, waiting, done]\n", "[open, waiting, done, open]\n", `small.yaml:15:33: open is in the row of open twice`},
		{"an empty owner", "owner: dev", `owner: ""`, `small.yaml:13:12: the text is empty: leave the key out`},
		{"an owner without a value", "owner: dev", `owner:`, `small.yaml:13:5: "owner" has no value`},
		{"an owner that is no token", "owner: dev", `owner: the dev`, `small.yaml:11:3: owner "the dev", want one token of letters, digits, _ and -`},
		{"a guard that does not parse", "when: instance.returns >= policy.most", "when: instance.returns >=", `small.yaml:7:45: guard "instance.returns >=": Syntax error: mismatched input '<EOF>'`},
		{"a guard of an unknown fact", "'tests' in evidence", "'tests' in evidense", `small.yaml:9:52: guard "'tests' in evidense": undeclared reference to 'evidense'; did you mean "evidence"?`},
		{"a guard of an unknown field", "signal.actor != ''", "signal.acter != ''", `small.yaml:23:32: guard "signal.acter != ''": undefined field 'acter'; did you mean "actor"?`},
		{"a guard of an unknown policy", "> policy.sure", "> policy.shure", `small.yaml:17:42: unknown policy "shure"; did you mean "sure"?`},
		{"an ill-typed guard", "signal.actor != ''", "signal.actor > 3", `small.yaml:23:39: guard "signal.actor > 3": found no matching overload for '_>_' applied to '(string, int)'`},
		{"a policy read as another type", "> policy.sure", "> policy.most + 'x'", `found no matching overload for '_+_' applied to '(int, string)'`},
		{"a guard that is no condition", "when: signal.actor != ''", "when: signal.actor", `small.yaml:23:26: guard "signal.actor" is of type string, want bool`},
		{"a guard that is no text", "when: signal.actor != ''", "when: true", `small.yaml:23:26: want a text, got boolean`},
		{"a limit without a guard", "when: instance.returns >= policy.most, ", "", `small.yaml:7:5: limit "budget" has no when`},
		{"a limit without a name", "name: budget, ", "", `small.yaml:7:5: a limit without a name`},
		{"two limits of a name", "name: checked", "name: budget", `two limits or gates are named "budget"`},
		{"a gate that requires nothing", `require: "'tests' in evidence", `, "", `small.yaml:9:5: gate "checked" requires nothing`},
		{"a gate without instead", `, instead: open`, "", `small.yaml:9:5: a gate without instead`},
		{"a rule without to", "to: [waiting, done], ", "", `small.yaml:18:9: a rule without to`},
		{"a rule with a name", "failure: true", "name: x", `small.yaml:18:9: a rule's name is its state: only limits have a name`},
		{"a final state with a way out", "{final: true}", "{final: true, next: [open]}", `small.yaml:24:3: done is final: nothing leaves it and nobody works in it`},
		{"rules where nobody works", "  waiting:\n", "  waiting:\n    decide: [{to: open}]\n", `small.yaml:19:3: waiting has no owner`},
		{"no version", "version: 1\n", "", `small.yaml:1:1: no version: want version: 1`},
		{"no name", "workflow: small\n", "", `small.yaml:1:1: no workflow`},
		{"no initial state", "initial: open\n", "", `small.yaml:1:1: no initial state`},
		{"a version that is no number", "version: 1", "version: one", `small.yaml:2:10: want a whole number from 1, got one`},
		{"a loop that cannot be", "distinct: 2", "distinct: 4", `loop of 4 distinct states in a window of 3: want 1 <= distinct <= window`},
		{"a loop without a window", "window: 3, ", "", `loop of 2 distinct states in a window of 0`},
		{"a policy name no guard can read", "sure: 0.5", "sure: 0.5, Loud-Name: 1", `small.yaml:4:30: policy name "Loud-Name", want a small letter`},
		{"a policy value that is no scalar", "sure: 0.5", "sure: [1]", `small.yaml:4:25: want true, false, a number or a text`},
		{"a policy value without end", "sure: 0.5", "sure: .inf", `want true, false, a number or a text`},
		{"a timeout that is none", "timeout: 15m", "timeout: soon", `small.yaml:14:14: want a duration like 15m or 2h30m, got soon`},
		{"a flag that is none", "failure: true", "failure: yes please", `small.yaml:18:40: want true or false, got string`},
		{"a list that is none", "next: [open, waiting, done]", "next: open", `small.yaml:15:11: want a list, got string`},
		{"a mapping that is none", "  done: {final: true}", "  done: final", `small.yaml:24:9: want a mapping, got string`},
		{"text that is not YAML", "states:", "states: [", `small.yaml:`},
		{"two documents", "workflow: small", "a: b\n---\nworkflow: small", `2 YAML documents, want 1`},
		{"an alias", "to: done, reason", "to: *done, reason", `want a text, got alias`},
		{"an unknown base", "version: 1", "version: 1\nextends: isue", `small.yaml:3:10: extends "isue": unknown workflow "isue"; did you mean "issue"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(small, c.old, c.new, 1)
			if src == small {
				t.Fatalf("%q is not in the definition", c.old)
			}
			_, err := Load("small.yaml", []byte(src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error\n%v\nwant\n%s", err, c.want)
			}
			if Problems(err) == nil {
				t.Errorf("%v holds no Problem", err)
			}
		})
	}
}

func TestLoadReportsEverythingAtOnce(t *testing.T) {
	src := strings.NewReplacer("version: 1", "verzion: 1", "commented: open", "commented: opne", "signal.actor", "signal.acter").Replace(small)
	_, err := Load("small.yaml", []byte(src))
	var lines []int
	for _, p := range Problems(err) {
		lines = append(lines, p.At.Line)
	}
	if want := []int{2, 1, 22, 23}; !cmp.Equal(lines, want) {
		t.Errorf("problems in lines %v, want %v:\n%v", lines, want, err)
	}
}

func TestLoadRefusesWhatIsNoText(t *testing.T) {
	for name, src := range map[string][]byte{
		"nothing":           nil,
		"comments only":     []byte("# nothing\n"),
		"a list":            []byte("[1, 2]"),
		"no UTF-8":          {'a', ':', ' ', 0xff},
		"more than it may":  []byte("workflow: " + strings.Repeat("x", maxSource)),
		"a deep nest":       []byte(strings.Repeat("[", 100_000)),
		"a deep nest, open": []byte(strings.Repeat("a: {", 50_000)),
	} {
		t.Run(name, func(t *testing.T) {
			if d, err := Load("x.yaml", src); err == nil {
				t.Errorf("loaded %+v", d)
			}
		})
	}
}

// FuzzLoad holds that no text makes Load panic, and that whatever it accepts has
// a canonical form that is accepted under the same hash.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(rich))
	for _, name := range BuiltinNames() {
		src, err := builtin.ReadFile("builtin/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Load("x.yaml", src)
		if err != nil {
			return
		}
		Verify(d)
		again, err := Load("y.yaml", d.Source())
		if err != nil {
			t.Fatalf("the canonical form is refused: %v\n%s", err, d.Source())
		}
		if again.Hash != d.Hash {
			t.Fatalf("another hash for\n%s", d.Source())
		}
	})
}
