package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/host"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// doorEnv is a system with instances of the issue lifecycle, each claimed by a PM.
type doorEnv struct {
	*natstest.Server
	t  testing.TB
	c  *client.Client
	nc *nats.Conn
}

func newDoorEnv(t *testing.T) *doorEnv {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{AckWait: time.Minute})
	nc := server.Connect(t)
	return &doorEnv{server, t, client.New(nc, "operator:ann"), nc}
}

// claimed opens an instance of a repository and claims it.
func (e *doorEnv) claimed(id, repo string) client.Holder {
	e.t.Helper()
	opened, err := e.c.Open(e.t.Context(), "", "issue", id, instance.Issue{Title: "t", Repo: repo})
	if err != nil {
		e.t.Fatal(err)
	}
	reply, err := e.c.DoAs(e.t.Context(), "pm", "claim", &pb.Command{Instance: id, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "pm-1", Work: opened.GetInstance().GetWork(), LeaseMs: 60_000}}})
	if err != nil {
		e.t.Fatal(err)
	}
	return client.Holder{Role: "pm", Agent: "pm-1", Instance: id, Token: reply.GetToken()}
}

// report ends the claim with a result that names a bundle and an artifact.
func (e *doorEnv) report(h client.Holder, bundle string, artifacts ...*pb.Artifact) {
	e.t.Helper()
	if _, err := e.c.DoAs(e.t.Context(), h.Role, "report", &pb.Command{Instance: h.Instance, Action: &pb.Command_Report{Report: &pb.Report{
		Token: h.Token, Result: &pb.Result{Status: "success", ConfidenceScore: 1, Bundle: bundle, Head: strings.Repeat("a", 40),
			Artifacts: artifacts}}}}); err != nil {
		e.t.Fatal(err)
	}
}

// next claims the work after a report, as the analyst.
func (e *doorEnv) next(id string) client.Holder {
	e.t.Helper()
	in, err := e.c.Get(e.t.Context(), id)
	if err != nil {
		e.t.Fatal(err)
	}
	reply, err := e.c.DoAs(e.t.Context(), in.GetOwner(), "claim", &pb.Command{Instance: id, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "a-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err != nil {
		e.t.Fatal(err)
	}
	return client.Holder{Role: in.GetOwner(), Agent: "a-1", Instance: id, Token: reply.GetToken()}
}

func artifactOf(content []byte) *pb.Artifact {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	return &pb.Artifact{Name: "a", Object: "artifact/" + digest, Size: uint32(len(content)), Sha256: digest}
}

// bundleOf is what begins as a bundle of a commit, so many bytes long.
func bundleOf(head string, size int) []byte {
	b := fmt.Appendf(nil, "# v2 git bundle\n%s refs/x\n\n", head)
	rest := make([]byte, max(size-len(b), 0))
	noise := rand.NewChaCha8([32]byte{1})
	_, _ = noise.Read(rest)
	return append(b, rest...)
}

var head = strings.Repeat("a", 40)

type objectStore interface {
	Put(ctx context.Context, name string, r io.Reader) error
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	Has(ctx context.Context, name string) (bool, error)
}

// direct is agent.Objects, which may read and write all, with Has.
type direct struct{ agent.Objects }

func (d direct) Has(ctx context.Context, name string) (bool, error) {
	r, err := d.Get(ctx, name)
	if err != nil {
		return false, nil
	}
	return true, r.Close()
}

// What an agent stores comes back, whichever way it goes, and from one way to the other.
func TestObjectsComeBackByEitherWay(t *testing.T) {
	e := newDoorEnv(t)
	bucket, err := host.Bucket(t.Context(), e.JetStream(t))
	if err != nil {
		t.Fatal(err)
	}
	open, door := direct{bucket}, agent.Door{Client: client.New(e.nc, "pm-1")}
	n := 0
	for name, way := range map[string]struct{ put, get objectStore }{
		"direct": {open, open}, "by the door": {door, door}, "put directly": {open, door}, "put by the door": {door, open},
	} {
		for _, size := range []int{0, 100, 512 << 10, 512<<10 + 1, 3 << 20} {
			t.Run(fmt.Sprintf("%s, %d bytes", name, size), func(t *testing.T) {
				n++
				repo := fmt.Sprintf("acme/w%d", n)
				h := e.claimed(fmt.Sprintf("%s/1", repo), repo)
				ctx := agent.WithHolder(t.Context(), h)
				bundle := "git/acme%2F" + repo[5:] + "/" + head
				content, text := bundleOf(head, size), bytes.Repeat([]byte{byte(n)}, size)
				if there, err := way.put.Has(ctx, bundle); err != nil || there {
					t.Errorf("before it is put: %v, %v", there, err)
				}
				for range 2 {
					if err := way.put.Put(ctx, bundle, bytes.NewReader(content)); err != nil {
						t.Fatal(err)
					}
				}
				if err := way.put.Put(ctx, artifactOf(text).Object, iotest.HalfReader(bytes.NewReader(text))); err != nil {
					t.Fatal(err)
				}
				if there, err := way.get.Has(ctx, bundle); err != nil || !there {
					t.Errorf("after it is put: %v, %v", there, err)
				}
				e.report(h, bundle, artifactOf(text))
				ctx = agent.WithHolder(t.Context(), e.next(h.Instance))
				for name, want := range map[string][]byte{bundle: content, artifactOf(text).Object: text} {
					for range 2 {
						r, err := way.get.Get(ctx, name)
						if err != nil {
							t.Fatal(err)
						}
						got, err := io.ReadAll(iotest.HalfReader(r))
						if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, want) {
							t.Fatalf("%s: got %d bytes, %v, want %d", name, len(got), err, len(want))
						}
					}
				}
				if r, err := way.get.Get(ctx, "artifact/none"); err == nil {
					t.Errorf("an object that is not there: %v", r)
				}
			})
		}
	}
}

// refused checks the code of a refusal, and that its text names no object.
func refused(t *testing.T, err error, code string) string {
	t.Helper()
	no := new(instance.Refusal)
	if !errors.As(err, &no) || string(no.Code) != code {
		t.Fatalf("answered %v, want it refused as %s", err, code)
	}
	return no.What
}

// Each row is an attack of an agent, or of one that says it is one.
func TestObjectsOfOthersAreRefused(t *testing.T) {
	e := newDoorEnv(t)
	ctx := t.Context()
	secret := []byte("the formula")
	other := e.claimed("acme/secret/1", "acme/secret")
	code := "git/acme%2Fsecret/" + head
	if err := errors.Join(e.c.PutObject(ctx, other, code, bytes.NewReader(bundleOf(head, 100))),
		e.c.PutObject(ctx, other, artifactOf(secret).Object, bytes.NewReader(secret))); err != nil {
		t.Fatal(err)
	}
	e.report(other, code, artifactOf(secret))
	owner := e.next(other.Instance)
	mine := e.claimed("acme/widgets/1", "acme/widgets")
	with := func(h client.Holder, f func(*client.Holder)) client.Holder { f(&h); return h }
	get := func(h client.Holder, name string) error { _, err := e.c.GetObject(ctx, h, name); return err }

	if err := get(owner, code); err != nil {
		t.Fatalf("its owner is refused: %v", err)
	}
	for name, h := range map[string]client.Holder{
		"without a claim":             {Role: "pm", Agent: "pm-1", Instance: "acme/secret/1"},
		"with an ended claim":         other,
		"with the token of a claim":   with(mine, func(h *client.Holder) { h.Instance = owner.Instance }),
		"as another role":             with(owner, func(h *client.Holder) { h.Role = "developer" }),
		"as another agent":            with(owner, func(h *client.Holder) { h.Agent = "pm-2" }),
		"with a token that is to be":  with(owner, func(h *client.Holder) { h.Token++ }),
		"on an instance that is not":  with(owner, func(h *client.Holder) { h.Instance = "acme/none/1" }),
		"on an instance of no name":   with(owner, func(h *client.Holder) { h.Instance = "" }),
		"on an instance of bad bytes": with(owner, func(h *client.Holder) { h.Instance = strings.Repeat("x", 300) }),
	} {
		t.Run(name+" none is read and none put", func(t *testing.T) {
			text := refused(t, get(h, code), "lapsed")
			if again := refused(t, get(h, "artifact/none"), "lapsed"); again != text || strings.Contains(text, "acme") {
				t.Errorf("it tells one from the other: %q, %q", text, again)
			}
			refused(t, e.c.PutObject(ctx, h, artifactOf([]byte("x")).Object, strings.NewReader("x")), "lapsed")
		})
	}
	t.Run("one of another instance is as one that is not there", func(t *testing.T) {
		text := refused(t, get(mine, "git/acme%2Fsecret/"+strings.Repeat("b", 40)), "unknown_object")
		for _, name := range []string{code, artifactOf(secret).Object, "", "../" + code} {
			if again := refused(t, get(mine, name), "unknown_object"); again != text {
				t.Errorf("%q: %q, not %q", name, again, text)
			}
		}
	})
	t.Run("to report another repository's code makes it none's own", func(t *testing.T) {
		h := e.claimed("acme/widgets/2", "acme/widgets")
		e.report(h, code)
		refused(t, get(e.next(h.Instance), code), "unknown_object")
	})
	t.Run("people read what the instance refers to", func(t *testing.T) {
		r, err := e.c.GetObject(ctx, client.Holder{Instance: "acme/secret/1"}, artifactOf(secret).Object)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("got %q, %v", got, err)
		}
		for _, id := range []string{"acme/widgets/1", "acme/none/1", ""} {
			refused(t, get(client.Holder{Instance: id}, artifactOf(secret).Object), "unknown_object")
		}
	})

	ask := func(q *pb.PutObjectRequest) error {
		q.Instance, q.Token, q.Agent = mine.Instance, mine.Token, mine.Agent
		return e.put(mine.Role, q)
	}
	own := "git/acme%2Fwidgets/" + head
	sum := artifactOf(secret).Sha256
	for name, q := range map[string]*pb.PutObjectRequest{
		"under another repository's name":   {Name: code, Size: 1, Sha256: sum, Data: []byte("x")},
		"under a name that leads elsewhere": {Name: "git/acme%2Fwidgets/../acme%2Fsecret/" + head, Size: 1, Sha256: sum, Data: []byte("x")},
		"under a name of no form":           {Name: "notes", Size: 1, Sha256: sum, Data: []byte("x")},
		"as an artifact of another hash":    {Name: "artifact/" + strings.Repeat("0", 64), Size: 1, Sha256: sum, Data: []byte("x")},
		"that is no bundle":                 {Name: own, Size: 11, Sha256: sum, Data: secret},
		"that is a bundle of another":       {Name: own, Size: 100, Sha256: sum, Data: bundleOf(strings.Repeat("b", 40), 100)},
		"larger than an object may be":      {Name: "artifact/" + sum, Size: 1<<30 + 1, Sha256: sum, Data: []byte("x")},
		"in a part larger than one may be":  {Name: "artifact/" + sum, Size: 1 << 20, Sha256: sum, Data: make([]byte, 512<<10+1)},
		"with more than it says":            {Name: "artifact/" + sum, Size: 5, Sha256: sum, Data: secret},
		"with an offset beyond its end":     {Name: "artifact/" + sum, Size: 5, Sha256: sum, Offset: 9},
		"with a part of nothing":            {Name: "artifact/" + sum, Size: 5, Sha256: sum},
		"with a hash that is none":          {Name: "artifact/x", Size: 1, Sha256: "x", Data: []byte("x")},
	} {
		t.Run("an object "+name+" is not put", func(t *testing.T) { refused(t, ask(q), "invalid") })
	}
	t.Run("content of another hash is not kept", func(t *testing.T) {
		false11 := []byte("the formulo")
		if text := refused(t, ask(&pb.PutObjectRequest{Name: artifactOf([]byte("the real")).Object, Size: 11,
			Sha256: artifactOf([]byte("the real")).Sha256, Data: false11}), "invalid"); !strings.Contains(text, "another hash") {
			t.Errorf("it is refused for %q", text)
		}
		if there, err := e.c.HasObject(ctx, mine, artifactOf([]byte("the real")).Object); err != nil || there {
			t.Errorf("it is there: %v, %v", there, err)
		}
		if err := e.c.PutObject(ctx, mine, artifactOf([]byte("the real")).Object, strings.NewReader("the real")); err != nil {
			t.Errorf("the true one is refused after it: %v", err)
		}
	})
	t.Run("what is there is not replaced", func(t *testing.T) {
		first, second := bundleOf(head, 200), bundleOf(head, 300)
		for _, content := range [][]byte{first, second} {
			if err := e.c.PutObject(ctx, mine, own, bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
		}
		e.report(mine, own)
		r, err := e.c.GetObject(ctx, e.next(mine.Instance), own)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, first) {
			t.Errorf("got %d bytes, %v, want the first ones", len(got), err)
		}
	})
	t.Run("a claim puts so many objects and no more", func(t *testing.T) {
		h := e.claimed("acme/widgets/3", "acme/widgets")
		for n := range 256 {
			if err := e.c.PutObject(ctx, h, artifactOf(fmt.Appendf(nil, "%d", n)).Object, strings.NewReader(fmt.Sprint(n))); err != nil {
				t.Fatalf("%d: %v", n, err)
			}
		}
		refused(t, e.c.PutObject(ctx, h, artifactOf([]byte("more")).Object, strings.NewReader("more")), "invalid")
	})
}

// put sends one part.
func (e *doorEnv) put(role string, q *pb.PutObjectRequest) error {
	reply := new(pb.PutObjectReply)
	err := e.request(role, subject.PutObject, q, reply)
	if err == nil && reply.Refusal != nil {
		err = &instance.Refusal{Code: instance.Code(reply.Refusal.Code), What: reply.Refusal.Message}
	}
	return err
}

// request sends a request once.
func (e *doorEnv) request(role, name string, q, reply proto.Message) error {
	to, err := subject.Agent(role, name)
	if err != nil {
		return err
	}
	data, err := proto.Marshal(q)
	if err != nil {
		return err
	}
	m, err := e.nc.RequestMsgWithContext(e.t.Context(),
		&nats.Msg{Subject: to, Data: data, Header: nats.Header{"Content-Type": {"application/protobuf"}}})
	if err != nil {
		return err
	}
	return proto.Unmarshal(m.Data, reply)
}

// A reply that is lost, and an orchestrator that ends in the middle, cost a part that is sent again.
func TestATransferGoesOnAfterALostReplyAndAnotherOrchestrator(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	stop := orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{AckWait: time.Minute})
	nc := server.Connect(t)
	e := &doorEnv{server, t, client.New(nc, "operator:ann"), nc}
	h := e.claimed("acme/widgets/1", "acme/widgets")
	content := bundleOf(head, 1500<<10)
	sum := sha256.Sum256(content)
	part := func(from, to int) *pb.PutObjectReply {
		t.Helper()
		q := &pb.PutObjectRequest{Instance: h.Instance, Token: h.Token, Agent: h.Agent, Name: "git/acme%2Fwidgets/" + head,
			Size: uint64(len(content)), Sha256: hex.EncodeToString(sum[:]), Offset: uint64(from), Data: content[from:to]}
		reply := new(pb.PutObjectReply)
		if err := e.request(h.Role, subject.PutObject, q, reply); err != nil || reply.Refusal != nil {
			t.Fatalf("at %d: %v, %v", from, err, reply.Refusal)
		}
		return reply
	}
	const half = 512 << 10
	for range 2 { // the second time because the reply was lost
		if r := part(0, half); r.Next != half || r.Done {
			t.Errorf("the first part is answered %v", r)
		}
	}
	stop()
	stop = orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{AckWait: time.Minute})
	if r := part(half, 2*half); r.Next != 0 || r.Done {
		t.Errorf("one that knows nothing of it answers %v", r)
	}
	if err := e.c.PutObject(t.Context(), h, "git/acme%2Fwidgets/"+head, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if r := part(2*half, len(content)); !r.Done {
		t.Errorf("the last part again is answered %v", r)
	}
	e.report(h, "git/acme%2Fwidgets/"+head)
	h = e.next(h.Instance)
	r, err := e.c.GetObject(t.Context(), h, "git/acme%2Fwidgets/"+head)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, half)
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	stop()
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{AckWait: time.Minute})
	rest, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(append(got, rest...), content) {
		t.Errorf("got %d bytes, %v, want %d", len(got)+len(rest), err, len(content))
	}
}

// What the door costs a step, which puts one bundle and gets one.
func BenchmarkObjects(b *testing.B) {
	server := natstest.Start(b, natstest.Options{})
	orchestratortest.Start(b, server.URL, 1, orchestratortest.Settings{AckWait: time.Minute})
	nc := server.Connect(b)
	c := client.New(nc, "operator:ann")
	bucket, err := host.Bucket(b.Context(), server.JetStream(b))
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for name, way := range map[string]objectStore{"direct": direct{bucket}, "door": agent.Door{Client: client.New(nc, "pm-1")}} {
		for _, size := range []int{100 << 10, 1 << 20} {
			content := bundleOf(head, size)
			claimed := func() (context.Context, string) {
				n++
				repo := fmt.Sprintf("acme/b%d", n)
				opened, err := c.OpenWith(b.Context(), "", repo+"/1", &pb.Open{Workflow: "issue", Bundle: "git/acme%2F" + repo[5:] + "/" + head,
					Base: head, Issue: &pb.Issue{Title: "t", Repo: repo}})
				if err != nil {
					b.Fatal(err)
				}
				reply, err := c.DoAs(b.Context(), "pm", "claim", &pb.Command{Instance: repo + "/1", Action: &pb.Command_Claim{
					Claim: &pb.Claim{Agent: "pm-1", Work: opened.GetInstance().GetWork(), LeaseMs: 60_000}}})
				if err != nil {
					b.Fatal(err)
				}
				return agent.WithHolder(b.Context(), client.Holder{Role: "pm", Agent: "pm-1", Instance: repo + "/1", Token: reply.GetToken()}),
					"git/acme%2F" + repo[5:] + "/" + head
			}
			b.Run(fmt.Sprintf("%s/put/%dKiB", name, size>>10), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					ctx, object := claimed()
					b.StartTimer()
					if err := way.Put(ctx, object, bytes.NewReader(content)); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/get/%dKiB", name, size>>10), func(b *testing.B) {
				ctx, object := claimed()
				if err := way.Put(ctx, object, bytes.NewReader(content)); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					r, err := way.Get(ctx, object)
					if err == nil {
						_, err = io.Copy(io.Discard, r)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
