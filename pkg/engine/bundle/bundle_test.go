package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/bundle"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

var (
	when   = time.Date(2026, 11, 27, 9, 0, 0, 123, time.UTC)
	source = []byte("workflow: small\n")
	output = []byte("the output of a step")
)

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

func newKey(t testing.TB) (key nkeys.KeyPair, public string) {
	t.Helper()
	key, err := nkeys.CreateOperator()
	if err == nil {
		public, err = key.PublicKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

// history returns the commits of a log, one of the instance of each name.
func history(t testing.TB, names ...string) (log []eventstore.Commit) {
	t.Helper()
	last := map[string]eventstore.Commit{}
	for i, id := range names {
		var e instance.Event = instance.Noted{Author: "operator:ann", Kind: "remark", Text: fmt.Sprint("remark ", i)}
		switch n := last[id]; {
		case n.Seq == 0:
			e = instance.Opened{Workflow: "small", Definition: sum(source), State: "todo", Bundle: "code/" + id}
		case n.Prev == 0:
			e = instance.Reported{Role: "dev", Agent: "eve", State: "todo", Result: instance.Result{
				Artifacts: []instance.Artifact{{Name: "todo.log", Object: "out/" + id, SHA256: sum(output)}}}}
		}
		data, err := wire.Events("operator:ann", []instance.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		c := eventstore.Commit{Seq: uint64(i + 1), ID: fmt.Sprint("c", i), Workflow: "small", State: "todo", Instance: id,
			Time: when.Add(time.Duration(i) * time.Second), Prev: last[id].Seq, Data: data}
		c.Chain = eventstore.NextChain(last[id].Chain, c)
		last[id] = c
		log = append(log, c)
	}
	return log
}

// export returns the bundle of a log; of one instance unless one is empty.
func export(t testing.TB, key nkeys.KeyPair, log []eventstore.Commit, one string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := bundle.Create(&out, "log-1", one, when)
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(err)
	var f seal.Follower
	for _, c := range log {
		try(w.Add(c))
		f.Add(c.Seq, c, true, "", nil)
	}
	try(w.Definition(sum(source), source))
	for name, sha := range w.Names().Objects {
		if sha != "" { // the code is in no store any more
			try(w.Object(name, sha, bytes.NewReader(output)))
		}
	}
	_, text, err := seal.Sign(&f, when, key)
	try(err)
	try(w.Seal(text))
	try(w.End(key))
	return out.Bytes()
}

func verify(file []byte, public string) (bundle.Verified, []eventstore.Commit, error) {
	var all []eventstore.Commit
	v, err := bundle.Verify(bytes.NewReader(file), int64(len(file)), public, func(string, []byte) {}, func(c eventstore.Commit) error {
		all = append(all, c)
		return nil
	})
	return v, all, err
}

// parts are the files of a bundle, by name.
type parts map[string][]byte

func open(t testing.TB, file []byte) parts {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	p := parts{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if p[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p parts) zip(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(p[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// lines changes the lines of a file.
func (p parts) lines(name string, change func([]string) []string) {
	all := change(strings.Split(strings.TrimSuffix(string(p[name]), "\n"), "\n"))
	p[name] = []byte(strings.Join(all, "\n") + "\n")
}

// A log of any length, and each of its instances, is verified as it was exported.
func TestWhatIsExportedIsVerified(t *testing.T) {
	key, public := newKey(t)
	rapid.Check(t, func(rt *rapid.T) {
		log := history(t, rapid.SliceOfN(rapid.SampledFrom([]string{"a/1", "a/2", "b/1", "b/2", "c"}), 1, 40).Draw(rt, "log")...)
		v, got, err := verify(export(t, key, log, ""), public)
		if err != nil || v.Size != int64(len(log)) || v.Seal == nil || !same(got, log) {
			rt.Fatalf("%+v, %d commits, %v", v, len(got), err)
		}
		id := log[rapid.IntRange(0, len(log)-1).Draw(rt, "instance")].Instance
		want := slices.DeleteFunc(slices.Clone(log), func(c eventstore.Commit) bool { return c.Instance != id })
		v, got, err = verify(export(t, key, log, id), public)
		if err != nil || v.Size != int64(len(log)) || v.Records != len(want) || v.Seal != nil || !same(got, want) {
			rt.Fatalf("%s: %+v, %d commits, %v", id, v, len(got), err)
		}
	})
}

func same(a, b []eventstore.Commit) bool {
	return slices.EqualFunc(a, b, func(a, b eventstore.Commit) bool {
		return a.Seq == b.Seq && a.Chain == b.Chain && a.ID == b.ID && bytes.Equal(a.Data, b.Data) && a.Time.Equal(b.Time)
	})
}

// manipulations are changes of a bundle by somebody without the key.
func manipulations(t *testing.T) map[string]struct {
	one    string // instance; empty: the whole log
	change func(parts)
	want   string
} {
	reorder := func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }
	remove := func(l []string) []string { return slices.Delete(l, 3, 4) }
	last := func(l []string) []string { return l[:len(l)-1] }
	record := func(change func(*bundle.Record)) func([]string) []string {
		return func(l []string) []string {
			var r bundle.Record
			if err := json.Unmarshal([]byte(l[2]), &r); err != nil {
				t.Fatal(err)
			}
			change(&r)
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			l[2] = string(line)
			return l
		}
	}
	in := func(file string, change func([]string) []string) func(parts) {
		return func(p parts) { p.lines(file, change) }
	}
	type row = struct {
		one    string
		change func(parts)
		want   string
	}
	return map[string]row{
		"a text altered":               {"", in("log.jsonl", record(func(r *bundle.Record) { r.Data = append(r.Data, 0) })), "sequence 3 of"},
		"a time altered":               {"", in("log.jsonl", record(func(r *bundle.Record) { r.Time = r.Time.Add(1) })), "its content gives"},
		"a number altered":             {"", in("log.jsonl", record(func(r *bundle.Record) { r.N++ })), "comes where"},
		"a record made erased":         {"", in("log.jsonl", record(func(r *bundle.Record) { r.Erased = "OX x" })), "its erasure is not signed with this key"},
		"a record removed":             {"", in("log.jsonl", remove), "sequence 5 comes where 4 belongs"},
		"the last record removed":      {"", in("log.jsonl", last), "log.jsonl is not what was exported"},
		"records reordered":            {"", in("log.jsonl", reorder), "sequence 4 comes where 3 belongs"},
		"a line that is no record":     {"", in("log.jsonl", func(l []string) []string { l[2] = "{"; return l }), "record 3 cannot be read"},
		"a blank in a record":          {"", in("log.jsonl", func(l []string) []string { l[2] += " "; return l }), "log.jsonl is not what was exported"},
		"an object changed":            {"", func(p parts) { p["objects/"+sum(output)] = []byte("the output of b step") }, "is not what was exported"},
		"an object removed":            {"", func(p parts) { delete(p, "objects/"+sum(output)) }, "is missing"},
		"a definition changed":         {"", func(p parts) { p["definitions/"+sum(source)] = []byte("workflow: smalt\n") }, "is not what was exported"},
		"a definition removed":         {"", func(p parts) { delete(p, "definitions/"+sum(source)) }, "is missing"},
		"a file added":                 {"", func(p parts) { p["objects/more"] = nil }, `"objects/more" is not in the manifest`},
		"the manifest changed":         {"", func(p parts) { p["manifest.json"] = append(p["manifest.json"], '\n') }, "manifest.json is not the one that was signed"},
		"the manifest removed":         {"", func(p parts) { delete(p, "manifest.json") }, "manifest.json is missing"},
		"the checkpoint changed":       {"", func(p parts) { p["checkpoint"] = bytes.Replace(p["checkpoint"], []byte("log-1"), []byte("log-2"), 1) }, "the checkpoint is not signed with O"},
		"the checkpoint removed":       {"", func(p parts) { delete(p, "checkpoint") }, "checkpoint is missing"},
		"the seal changed":             {"", func(p parts) { p["seal.json"] = bytes.Replace(p["seal.json"], []byte(`:9,`), []byte(`:8,`), 1) }, "seal.json is not what was exported"},
		"one: a record removed":        {"a/1", in("log.jsonl", remove), "comes where"},
		"one: the last removed":        {"a/1", in("log.jsonl", last), "log.jsonl is not what was exported"},
		"one: records reordered":       {"a/1", in("log.jsonl", reorder), "comes where"},
		"one: a text altered":          {"a/1", in("log.jsonl", record(func(r *bundle.Record) { r.Data = append(r.Data, 0) })), "its content gives"},
		"one: another instance":        {"a/1", in("log.jsonl", record(func(r *bundle.Record) { r.Instance = "a/2" })), `is of "a/2"`},
		"one: a proof of another":      {"a/1", in("proof.jsonl", reorder), "proof.jsonl is not what was exported"},
		"one: the manifest of another": {"a/1", func(p parts) { p["manifest.json"] = bytes.Replace(p["manifest.json"], []byte("a/1"), []byte("a/2"), 1) }, "manifest.json is not the one that was signed"},
	}
}

// mixed is the log of the tables.
func mixed(t testing.TB) []eventstore.Commit {
	return history(t, "a/1", "a/2", "a/1", "a/1", "b", "a/1", "a/2", "a/1", "b")
}

func TestManipulatedBundlesAreRefused(t *testing.T) {
	key, public := newKey(t)
	for name, c := range manipulations(t) {
		t.Run(name, func(t *testing.T) {
			p := open(t, export(t, key, mixed(t), c.one))
			c.change(p)
			_, _, err := verify(p.zip(t), public)
			if !errors.Is(err, bundle.ErrBundle) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	file := export(t, key, mixed(t), "")
	t.Run("signed by another key", func(t *testing.T) {
		other, _ := newKey(t)
		_, _, err := verify(export(t, other, mixed(t), ""), public)
		if !errors.Is(err, bundle.ErrBundle) || !strings.Contains(err.Error(), "is not signed with "+public) {
			t.Error(err)
		}
	})
	for _, size := range []int{0, 10, len(file) / 2, len(file) - 1} {
		t.Run(fmt.Sprintf("cut off after %d bytes", size), func(t *testing.T) {
			if _, _, err := verify(file[:size], public); !errors.Is(err, bundle.ErrBundle) || !strings.Contains(err.Error(), "cut off") {
				t.Error(err)
			}
		})
	}
	if _, _, err := verify(file, "OX"); !errors.Is(err, bundle.ErrKey) {
		t.Errorf("a key that is none: %v", err)
	}
}

// The person with the key cannot leave out a commit of an instance from a bundle of the index that was signed, either.
func TestALogThatAnotherWasSignedOfIsRefused(t *testing.T) {
	key, public := newKey(t)
	log := mixed(t)
	whole, short := open(t, export(t, key, log, "a/1")), open(t, export(t, key, log[:6], "a/1"))
	if _, _, err := verify(whole.zip(t), public); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log.jsonl", "proof.jsonl"} {
		mix := maps.Clone(whole)
		mix[name] = short[name]
		if _, _, err := verify(mix.zip(t), public); !errors.Is(err, bundle.ErrBundle) {
			t.Errorf("%s of a shorter log: %v", name, err)
		}
	}
}

// A commit whose texts the key's holder erased is in the bundle, and is counted.
func TestAnErasedRecordIsVerifiedByItsSignature(t *testing.T) {
	key, public := newKey(t)
	log := mixed(t)
	before, _, err := verify(export(t, key, log, ""), public)
	if err != nil || before.Erased != 0 {
		t.Fatal(before, err)
	}
	data, err := wire.Events("operator:ann", []instance.Event{instance.Noted{Author: "erased", Kind: "remark", Text: "erased"}})
	if err != nil {
		t.Fatal(err)
	}
	log[3].Data = data
	if log[3].Erased, err = seal.SignErasure(log[3], key); err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{"", "a/1"} {
		if v, _, err := verify(export(t, key, log, one), public); err != nil || v.Erased != 1 {
			t.Errorf("%q: %+v, %v", one, v, err)
		}
	}
	log[3].Data = log[5].Data
	if _, _, err := verify(export(t, key, log, ""), public); !errors.Is(err, seal.ErrErasure) {
		t.Errorf("other texts in its place: %v", err)
	}
}

// The second verifier, in Python, shares no code with the first.
func TestASecondVerifierAgrees(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3, which the second verifier needs")
	}
	key, public := newKey(t)
	var name string
	run := func(t *testing.T, file []byte) (string, error) {
		name = filepath.Join(t.TempDir(), "log.zip")
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, "../../../scripts/verify_bundle.py", name, public).CombinedOutput()
		return string(out), err
	}
	for _, one := range []string{"", "a/1", "b"} {
		out, err := run(t, export(t, key, mixed(t), one))
		if err != nil || !strings.Contains(out, "not checked: the signature") {
			t.Errorf("%q: %v\n%s", one, err, out)
		}
		t.Log(out)
	}
	if openssl, err := exec.LookPath("openssl"); err != nil {
		t.Log("there is no openssl: the signature was not checked a second time")
	} else if out, err := exec.Command(openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER", "-inkey", name+".der",
		"-sigfile", name+".sig", "-in", name+".text").CombinedOutput(); err != nil {
		t.Errorf("openssl: %v\n%s", err, out)
	}
	for name, c := range manipulations(t) {
		t.Run(name, func(t *testing.T) {
			p := open(t, export(t, key, mixed(t), c.one))
			c.change(p)
			out, err := run(t, p.zip(t))
			if name == "the checkpoint changed" || name == "a record made erased" {
				return // both need the signature
			}
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(out, "refused: ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
