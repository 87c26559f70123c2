package sandbox_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

func TestACommandIsConfined(t *testing.T) { confined(t, confines) }

func confines(t *testing.T, s sandbox.Sandbox) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("nothing outside is seen", func(t *testing.T) {
		r := run(t, s, sh(t, "cat "+outside+"/f"))
		if r.OK() || bytes.Contains(r.Output, []byte("kept")) {
			t.Errorf("%q: %q", r, r.Output)
		}
	})
	t.Run("what is readable cannot be written", func(t *testing.T) {
		c := sh(t, "cat "+outside+"/f; echo spoilt > "+outside+"/f")
		c.Readable = []string{outside, "/no/such/path"}
		r := run(t, s, c)
		got, _ := os.ReadFile(filepath.Join(outside, "f"))
		if r.OK() || !bytes.HasPrefix(r.Output, []byte("kept")) || string(got) != "kept" {
			t.Errorf("%q: %q, file %q", r, r.Output, got)
		}
	})
	t.Run("what is writable can be written", func(t *testing.T) {
		c := sh(t, "echo new > "+outside+"/g")
		c.Writable = []string{outside}
		if r := run(t, s, c); !r.OK() {
			t.Errorf("%q: %q", r, r.Output)
		}
	})
	t.Run("files can be linked and moved between directories", func(t *testing.T) { // as compilers of Rust do
		if r := run(t, s, sh(t, "mkdir -p a/b; echo x > a/b/f; ln a/b/f a/g && cat a/g")); !r.OK() || string(r.Output) != "x\n" {
			t.Errorf("%q: %q", r, r.Output)
		}
	})
	t.Run("the network is out of reach", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		c := sh(t, "exec 3<>/dev/tcp/127.0.0.1/"+port)
		c.Argv[0] = "bash"
		if r := run(t, s, c); r.OK() {
			t.Error("it connected")
		}
	})
	t.Run("go test works from the caches", func(t *testing.T) {
		c := sh(t, "go test ./...")
		files := map[string]string{"go.mod": "module m\n\ngo 1.26\n", "m_test.go": "package m\nimport \"testing\"\nfunc TestM(t *testing.T) {}\n"}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if r := run(t, s, c); !r.OK() {
			t.Errorf("%q: %s", r, r.Output)
		}
	})
}
