package workflow

import (
	"bytes"
	"errors"
	"testing"
)

func TestADefinitionIsLoadedUnderItsOwnHashOnly(t *testing.T) {
	d, err := Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := LoadHashed(d.Hash, d.Source()); err != nil || got.Hash != d.Hash {
		t.Errorf("got %v, %v", got, err)
	}
	lax := bytes.Replace(d.Source(), []byte("require_tests: true"), []byte("require_tests: false"), 1)
	if bytes.Equal(lax, d.Source()) {
		t.Fatal("nothing was exchanged")
	}
	for _, hash := range []string{d.Hash, "ffff", ""} {
		if got, err := LoadHashed(hash, lax); !errors.Is(err, ErrFalseHash) || got != nil {
			t.Errorf("under %q: %v", hash, err)
		}
	}
}
