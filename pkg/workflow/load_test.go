package workflow

import "testing"

func TestSourceLoadsToTheSameHash(t *testing.T) {
	d, err := Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load("again.yaml", d.Source())
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash != d.Hash {
		t.Errorf("hash %s, want %s", again.Hash, d.Hash)
	}
}
