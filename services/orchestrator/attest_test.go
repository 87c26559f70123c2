package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// rawCommit is a commit as git stores it, and its id.
func rawCommit(t testing.TB, tree string) (raw []byte, id string) {
	raw = fmt.Appendf(nil, "tree %s\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n", tree)
	id, _, err := attestation.ReadCommit(raw)
	if err != nil {
		t.Fatal(err)
	}
	return raw, id
}

// attestable is an instance of which an orchestrator with a key knows a change, and the claim on its next step.
func attestable(t testing.TB) (e *doorEnv, key ed25519.PrivateKey, raw []byte, own client.Holder) {
	server, file := natstest.Start(t, natstest.Options{}), filepath.Join(t.TempDir(), "attest.key")
	key, err := attestation.OpenKey(file)
	if err != nil {
		t.Fatal(err)
	}
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{AckWait: time.Minute, AttestKey: file})
	nc := server.Connect(t)
	e = &doorEnv{server, t, client.New(nc, "operator:ann"), nc}
	raw, head := rawCommit(t, emptyTree)
	h := e.claimed(widget, "acme/widgets")
	if _, err := e.c.DoAs(t.Context(), h.Role, "report", &pb.Command{Instance: widget, Action: &pb.Command_Report{Report: &pb.Report{
		Token: h.Token, Result: &pb.Result{Status: "success", ConfidenceScore: 1, Bundle: "git/acme%2Fwidgets/" + head, Head: head}}}}); err != nil {
		t.Fatal(err)
	}
	return e, key, raw, e.next(widget)
}

const widget, emptyTree = "acme/widgets/1", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

func TestTheOrchestratorSignsForTheHolderOfAClaimAndForPeople(t *testing.T) {
	e, key, raw, own := attestable(t)
	head, _, _ := attestation.ReadCommit(raw)
	envelope, object, err := e.c.Attest(t.Context(), own, raw)
	if err != nil || object == "" {
		t.Fatalf("%s, %v", object, err)
	}
	s, _, err := attestation.Verify(envelope, []attestation.Key{{Public: key.Public().(ed25519.PublicKey)}})
	if err != nil || s.Commit() != head || s.Tree() != emptyTree || s.Predicate.Instance != widget || len(s.Predicate.Steps) != 1 || s.Predicate.Program == "" {
		t.Errorf("%+v, %v", s, err)
	}
	e.report(own, "", &pb.Artifact{Name: "attestation", Object: object, Size: uint32(len(envelope)), Sha256: filepath.Base(object)})
	if kept, err := read(t.Context(), e.c, widget, object); err != nil || !bytes.Equal(kept, envelope) {
		t.Errorf("%q is kept, %v", kept, err)
	}
	mine, object, err := e.c.Attest(t.Context(), client.Holder{Instance: widget}, raw)
	if s, readErr := attestation.Read(mine); err != nil || readErr != nil || object != "" || len(s.Predicate.Steps) != 2 {
		t.Errorf("a person gets %+v, %q, %v, %v", s, object, err, readErr)
	}
	other, _ := rawCommit(t, "0000000000000000000000000000000000000000")
	for name, c := range map[string]struct {
		by   client.Holder
		raw  []byte
		code instance.Code
	}{
		"a claim that has ended":          {own, raw, instance.CodeLapsed},
		"the claim of another agent":      {client.Holder{Role: "developer", Agent: "d-1", Instance: widget, Token: own.Token}, raw, instance.CodeLapsed},
		"a commit with another tree":      {client.Holder{Instance: widget}, other, instance.CodeInvalid},
		"what is no commit":               {client.Holder{Instance: widget}, []byte("x"), instance.CodeInvalid},
		"an instance that does not exist": {client.Holder{Instance: "acme/widgets/9"}, raw, "unknown_object"},
	} {
		no := new(instance.Refusal)
		if _, _, err := e.c.Attest(t.Context(), c.by, c.raw); !errors.As(err, &no) || no.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

func read(ctx context.Context, c *client.Client, id, object string) ([]byte, error) {
	r, err := c.GetObject(ctx, client.Holder{Instance: widget}, object)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestAnOrchestratorWithoutAKeyRefusesToAttest(t *testing.T) {
	e := newDoorEnv(t)
	h := e.claimed("acme/widgets/1", "acme/widgets")
	raw, _ := rawCommit(t, emptyTree)
	no := new(instance.Refusal)
	if _, _, err := e.c.Attest(t.Context(), h, raw); !errors.As(err, &no) || no.Code != "no_key" {
		t.Error(err)
	}
}

// BenchmarkAttest has an orchestrator sign a statement on an instance of so many commits, for a person and for an
// agent, for whom it is kept.
func BenchmarkAttest(b *testing.B) {
	for _, n := range []int{30, 200} {
		e, _, raw, own := attestable(b)
		for i := range n {
			if _, err := e.c.Note(b.Context(), widget, "remark", fmt.Sprint(i)); err != nil {
				b.Fatal(err)
			}
		}
		for name, h := range map[string]client.Holder{"person": {Instance: widget}, "agent": own} {
			b.Run(fmt.Sprintf("commits=%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := e.c.Attest(b.Context(), h, raw); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
