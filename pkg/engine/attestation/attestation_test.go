package attestation

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	base, one, two = strings.Repeat("b", 40), strings.Repeat("1", 40), strings.Repeat("2", 40)
	tree           = strings.Repeat("7", 40)
)

// record is of an instance whose first change was approved, and whose second is shown.
func record() Record {
	judged := verdict.Judgement{Kind: verdict.Code, Base: base, Change: two, Shown: true, BaseCount: verdict.Count{Passed: 4},
		ChangeCount: verdict.Count{Passed: 5}, Tests: []verdict.ShownTest{{Name: "TestSum", By: "tester", Base: base, Change: two, Output: "want 5"}}}
	at := time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
	report := func(head, brain string, evidence ...instance.Evidence) instance.Reported {
		return instance.Reported{Role: "developer", Agent: "developer/vm-1", State: "implementing", Result: instance.Result{
			Status: instance.Success, Summary: "private", Head: head, Bundle: "git/" + head, Evidence: evidence, Spend: instance.Cost{Brain: brain},
			Artifacts: []instance.Artifact{{Name: "implementing.prompt", SHA256: "abc"}, {Name: "implementing.log", SHA256: "def"}}}}
	}
	say := func(name, actor, permission string) instance.Signalled {
		return instance.Signalled{Name: name, Actor: actor, Data: map[string]string{"permission": permission, "body": "private"}}
	}
	r := Record{ID: "acme/widgets/1", Commit: two, Tree: tree, Accounts: true}
	for i, e := range []instance.Event{
		instance.Opened{Workflow: "issue", Definition: "d1", Issue: instance.Issue{Repo: "acme/widgets", Title: "private", Body: "private"}, Base: base},
		instance.Claimed{Token: 1, Role: "developer", Agent: "developer/vm-1", Program: "v1.2.3"}, report(one, "model:m-1"), say("approved", "github:mia", "maintain"),
		report(two, "exec:claude", instance.Evidence{Name: "tests", OK: true, Commit: two, Command: "go test", Passed: 5, Role: "developer", Judgement: &judged}),
		say("approved", "github:wim", "write"), say("approved", "operator:ann", ""), say("comment", "github:mia", "maintain"),
		say("changed", "gateway", ""), instance.Answered{Number: 1, Text: "private", By: "github:mia"},
	} {
		r.Commits = append(r.Commits, instance.Commit{Seq: uint64(i + 7), At: at.Add(time.Duration(i) * time.Minute), Events: []instance.Event{e}})
	}
	return r
}

// The gateway names people by their login alone.
func TestAPersonOfTheForgeIsNamedSo(t *testing.T) {
	r := record()
	add := func(events ...instance.Event) {
		r.Commits = append(r.Commits, instance.Commit{Seq: 20, Events: events})
	}
	add(instance.Asked{Number: 2, Text: "Why?"}, instance.Asked{Number: 3, Text: "How?"})
	add(instance.Signalled{Name: "approved", Actor: "ada", Data: map[string]string{"permission": "maintain"}})
	add(instance.Reported{Role: "pm", Result: instance.Result{Status: instance.Success}}, instance.Answered{Number: 2, By: "ada"},
		instance.Answered{Number: 3, By: "pm"})
	s, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []Decision{{20, "approved", "github:ada", two, "maintain"}, {20, "answered", "github:ada", two, ""}}
	if people := s.Predicate.People; len(people) < 2 || !slices.Equal(people[len(people)-2:], want) {
		t.Errorf("the decisions are %+v", people)
	}
	for _, must := range []string{"approved-by=github:ada", "approved-by=maintain"} {
		if q, err := ParseRequirement(must); err != nil || q.Check(s) != nil {
			t.Errorf("%s: %v, %v", must, err, q.Check(s))
		}
	}
}

func TestTheApprovalsOfAPullRequestCountOnItsCommit(t *testing.T) {
	r := record()
	r.Commits = append(r.Commits, instance.Commit{Seq: 20, Events: []instance.Event{instance.Reported{Role: "shepherd", Result: instance.Result{
		Status: instance.Success, Evidence: []instance.Evidence{{Name: "gate:approvals", OK: true, Commit: two, Role: "shepherd", Data: map[string]string{
			"ada": "approved 2222222 as maintain", "bob": "approved 1111111, an earlier commit", "eve": "approved, but may only read",
			"joe": "approved 1111111 as write"}}}}}}})
	s, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	people := s.Predicate.People
	if len(people) != 6 || people[5] != (Decision{20, "approved", "github:ada", two, "maintain"}) {
		t.Errorf("the decisions are %+v", people)
	}
}

func built(t testing.TB) Statement {
	t.Helper()
	s, err := Build(record())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func key(t testing.TB) (ed25519.PrivateKey, []byte) {
	t.Helper()
	private, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	k, err := ParsePrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	return k, public
}

func TestAStatementHasTheRecordAndNoTextOfIt(t *testing.T) {
	s := built(t)
	p := s.Predicate
	if s.Commit() != two || s.Tree() != tree || p.FirstSeq != 7 || p.LastSeq != 16 || p.Base != base || p.Definition != "d1" || !p.Proof.Shown ||
		p.Proof.Base.Passed != 4 || p.Proof.Change.Passed != 5 || len(p.Steps) != 2 || p.Steps[1].Brain != "exec:claude" || p.Steps[0].Program != "v1.2.3" ||
		fmt.Sprint(p.Steps[0].Prompts) != "[abc]" || len(p.People) != 5 || p.People[0].Commit != one || len(p.Checks) != 1 {
		t.Errorf("the statement is %+v", s)
	}
	text, err := json.Marshal(s)
	if err != nil || strings.Contains(string(text), "private") || strings.Contains(string(text), "want 5") {
		t.Errorf("%s, %v", text, err)
	}
	r := record()
	r.Commit = one
	if s, err = Build(r); err != nil || s.Predicate.Proof.Shown || s.Predicate.Proof.Reason != "the newest commit was not tested" {
		t.Errorf("of the first commit: %+v, %v", s.Predicate.Proof, err)
	}
	for _, commit := range []string{base, tree, ""} {
		r.Commit = commit
		if _, err := Build(r); err == nil {
			t.Errorf("the work was never at %q, and there is a statement", commit)
		}
	}
}

func TestTheSignedTextIsThatOfTheSpecification(t *testing.T) {
	if got := string(signed("http://example.com/HelloWorld", []byte("hello world"))); got != "DSSEv1 29 http://example.com/HelloWorld 11 hello world" {
		t.Error(got)
	}
}

func signaturesOf(t *testing.T, envelope []byte) []Signature {
	var e Envelope
	if err := json.Unmarshal(envelope, &e); err != nil {
		t.Fatal(err)
	}
	return e.Signatures
}

// TestManipulationsAreRefused changes a genuine attestation in each way in turn.
func TestManipulationsAreRefused(t *testing.T) {
	k, public := key(t)
	other, foreign := key(t)
	s := built(t)
	genuine, err := Sign(s, k)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(change func(*Envelope)) []byte {
		var e Envelope
		if err := json.Unmarshal(genuine, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	payload := func(old, now string) []byte {
		return edit(func(e *Envelope) {
			text, err := base64.StdEncoding.DecodeString(e.Payload)
			if err != nil || !strings.Contains(string(text), old) {
				t.Fatalf("the payload has no %q, %v", old, err)
			}
			e.Payload = base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(text), old, now, 1)))
		})
	}
	sign := func(change func(*Statement), by ed25519.PrivateKey) []byte {
		s := built(t)
		change(&s)
		text, err := Sign(s, by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	page, err := os.ReadFile("../../../docs/attestation.md")
	if err != nil {
		t.Fatal(err)
	}
	revoked := []byte(strings.ReplaceAll(string(public), "PUBLIC KEY", "REVOKED PUBLIC KEY"))
	for _, c := range []struct {
		name         string
		envelope     []byte
		keys         []byte
		commit, tree string
		want         error
	}{
		{"nothing", genuine, public, two, tree, nil},
		{"nothing, where no repository is there", genuine, public, two, "", nil},
		{"nothing, after a rotation", genuine, append(foreign, public...), two, tree, nil},
		{"another commit as its subject", payload(two, one), public, one, "", ErrSignature},
		{"another tree as its subject", payload(tree, base), public, two, base, ErrSignature},
		{"a proof that it does not have", payload(`"failed":0`, `"failed":1`), public, two, tree, ErrSignature},
		{"an approval by another person", payload("github:wim", "github:eve"), public, two, tree, ErrSignature},
		{"a longer range of the log", payload(`"last_seq":16`, `"last_seq":99`), public, two, tree, ErrSignature},
		{"another policy", payload(`"definition":"d1"`, `"definition":"d2"`), public, two, tree, ErrSignature},
		{"another base", payload(`"base":"`+base, `"base":"`+one), public, two, tree, ErrSignature},
		{"another instance", payload("acme/widgets/1", "acme/widgets/2"), public, two, tree, ErrSignature},
		{"whether the server had accounts", payload(`"accounts":true`, `"accounts":false`), public, two, tree, ErrSignature},
		{"the signature of another envelope", edit(func(e *Envelope) {
			e.Signatures = signaturesOf(t, sign(func(s *Statement) { s.Predicate.LastSeq++ }, k))
		}), public, two, tree, ErrSignature},
		{"another type of payload", edit(func(e *Envelope) { e.PayloadType = "text/plain" }), public, two, tree, ErrForm},
		{"no signature", edit(func(e *Envelope) { e.Signatures = nil }), public, two, tree, ErrSignature},
		{"a signature with the id of the key, by another", edit(func(e *Envelope) {
			text, err := base64.StdEncoding.DecodeString(e.Payload)
			if err != nil {
				t.Fatal(err)
			}
			e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(ed25519.Sign(other, signed(PayloadType, text)))
		}), public, two, tree, ErrSignature},
		{"a key that is not known", sign(func(*Statement) {}, other), public, two, tree, ErrSignature},
		{"a key that was revoked", genuine, revoked, two, tree, ErrRevoked},
		{"a key that was revoked, and is listed as valid, too", genuine, append(public, revoked...), two, tree, ErrRevoked},
		{"a rotated key that the file no longer has", genuine, foreign, two, tree, ErrSignature},
		{"the envelope of another instance", sign(func(s *Statement) {
			s.Predicate.Instance, s.Subject = "acme/widgets/2", []Subject{{map[string]string{gitCommit: one}}, {map[string]string{gitTree: base}}}
		}, k), public, two, tree, ErrOther},
		{"the attestation of another commit", genuine, public, one, base, ErrOther},
		{"the commit's own, with another tree in the repository", genuine, public, two, base, ErrTree},
		{"another predicate", sign(func(s *Statement) { s.PredicateType = "https://slsa.dev/provenance/v1" }, k), public, two, tree, ErrForm},
		{"a second commit as its subject", sign(func(s *Statement) { s.Subject = append(s.Subject, Subject{map[string]string{gitCommit: one}}) }, k), public, two, tree, ErrForm},
		{"a second envelope behind it", append([]byte(string(genuine)), genuine...), public, two, tree, ErrForm},
	} {
		keys, err := ParseKeys(c.keys)
		if err != nil {
			t.Fatal(c.name, err)
		}
		s, _, err := Verify(c.envelope, keys)
		if err == nil {
			_, err = s.Covers(c.commit, c.tree)
		}
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if row := fmt.Sprintf("| %s | `%v", c.name, c.want); c.want != nil && !strings.Contains(string(page), row) {
			t.Errorf("docs/attestation.md has no row %s…`", row)
		}
	}
}

func TestACommitIsNamedByItsBytes(t *testing.T) {
	raw := "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n"
	long := strings.Repeat("7", 64)
	for _, c := range []struct{ name, raw, id, tree string }{
		{"as git names it", raw, "cdb6f5729853304abc87a11d7ceda7eb5f02fa55", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{"of a repository with SHA-256", "tree " + long + "\n", "d8593655134bd326231d59494942584f38320065080f6fff5c178b7d0f1a003f", long},
		{"nothing", "", "", ""},
		{"no tree", "parent " + tree + "\n", "", ""},
		{"a tree in capitals", "tree " + strings.Repeat("A", 40) + "\n", "", ""},
		{"a tree alone", "tree " + tree, "", ""},
	} {
		id, got, err := ReadCommit([]byte(c.raw))
		if id != c.id || got != c.tree || (err != nil) != (c.id == "") || err != nil && !errors.Is(err, ErrCommit) {
			t.Errorf("%s: %q, %q, %v", c.name, id, got, err)
		}
	}
}

func TestAKeyIsMadeOnceAndItsPublicPartIsRestored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attest.key")
	made, err := OpenKey(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key has the mode %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(PublicFile(file), []byte("of another"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := OpenKey(file)
	if err != nil || !again.Equal(made) {
		t.Fatalf("another key, %v", err)
	}
	text, err := os.ReadFile(PublicFile(file))
	if err != nil {
		t.Fatal(err)
	}
	if known, err := ParseKeys(text); err != nil || len(known) != 1 || !known[0].Public.Equal(made.Public()) {
		t.Errorf("%v, %v", known, err)
	}
}

func TestACommitWithTheSameFilesIsAttestedByThem(t *testing.T) {
	if byTree, err := built(t).Covers(one, tree); err != nil || !byTree {
		t.Error(byTree, err)
	}
}

func TestRequirementsAreMetByTheCommitItself(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Statement)
		met    bool
	}{
		{"shown", nil, true},
		{"shown", func(s *Statement) { s.Predicate.Proof = Proof{Reason: "no test"} }, false},
		{"approved-by=triage", nil, true},
		{"approved-by=write", nil, true},
		{"approved-by=maintain", nil, false}, // the maintainer approved the commit before
		{"approved-by=operator", nil, true},
		{"approved-by=github:wim", nil, true},
		{"approved-by=github:mia", nil, false},
		{"approved-by=write", func(s *Statement) { s.Predicate.Accounts = false }, false},
	} {
		r, err := ParseRequirement(c.want)
		if err != nil {
			t.Fatal(err)
		}
		s := built(t)
		if c.change != nil {
			c.change(&s)
		}
		if err := r.Check(s); (err == nil) != c.met || err != nil && !errors.Is(err, ErrUnmet) {
			t.Errorf("%s: %v, want met: %v", c.want, err, c.met)
		}
	}
	for _, bad := range []string{"", "shwn", "shown=yes", "approved-by", "approved-by=", "approved-by=owner"} {
		if _, err := ParseRequirement(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAFileWithoutAKeyIsRefused(t *testing.T) {
	private, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseKeys(private); !errors.Is(err, ErrKey) {
		t.Error("a private key is taken for a public one:", err)
	}
	if _, err := ParsePrivate(public); !errors.Is(err, ErrKey) {
		t.Error("a public key is taken for a private one:", err)
	}
	if _, err := ParseKeys([]byte("none")); !errors.Is(err, ErrKey) {
		t.Error("a text is taken for a key:", err)
	}
}

// BenchmarkSign makes a statement and signs it; BenchmarkVerify verifies one.
func BenchmarkSign(b *testing.B) {
	k, _ := key(b)
	r := record()
	for b.Loop() {
		s, err := Build(r)
		if err == nil {
			_, err = Sign(s, k)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	k, public := key(b)
	envelope, err := Sign(built(b), k)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		keys, err := ParseKeys(public)
		if err == nil {
			_, _, err = Verify(envelope, keys)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuildAndSign(b *testing.B) {
	k, _ := key(b)
	for b.Loop() {
		if _, err := Sign(built(b), k); err != nil {
			b.Fatal(err)
		}
	}
}
