package service

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAPartEndsWithoutTheRestAndMayBeBegunAnew(t *testing.T) {
	h := &Host{Name: "one", Grace: time.Minute}
	broken := errors.New("disk full")
	for _, says := range []error{nil, broken} {
		ended := false
		part, err := h.Part(t.Context(), func(_ context.Context, p *Host) error {
			if p.Name != h.Name {
				t.Errorf("the part is of %q, want %q", p.Name, h.Name)
			}
			p.Add("ends", func(context.Context) error { return says })
			p.AddBase("waits", func(ctx context.Context) error { <-ctx.Done(); ended = true; return nil })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Run(t.Context()); !errors.Is(err, says) {
			t.Errorf("it ended with %v, want %v", err, says)
		}
		if !ended {
			t.Error("an actor of the part did not end")
		}
	}
	if len(h.actors.list) != 0 {
		t.Errorf("the host has %d actors of the parts", len(h.actors.list))
	}
}

func TestAPartThatCannotBeSetUpSaysWhy(t *testing.T) {
	broken := errors.New("no such bucket")
	if _, err := new(Host).Part(t.Context(), func(context.Context, *Host) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}
