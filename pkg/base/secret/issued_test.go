package secret_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/secret"
)

func TestWhatIsIssuedLaterIsRedacted(t *testing.T) {
	s, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	issued := &secret.Issued{}
	s = s.WithIssued(issued).With("tavern-lantern")
	const text = "Bearer quiet-harbor-moss and tavern-lantern"
	if got := s.Redact(text); got != "Bearer quiet-harbor-moss and [redacted: own-credential]" {
		t.Error(got)
	}
	issued.Add("moss") // too short
	issued.Add("quiet-harbor-moss")
	const clean = "Bearer [redacted: own-credential] and [redacted: own-credential]"
	if got := s.Redact(text); got != clean {
		t.Error(got)
	}
	for i := range 1000 {
		issued.Add(fmt.Sprintf("another-credential-%d", i))
	}
	if got := s.Redact(text); got == clean {
		t.Error("what was issued long ago is remembered for ever")
	}
}
