package testrun

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func failing(output string, names ...string) instance.Evidence {
	return instance.Evidence{Name: Name, Failed: names, Output: output}
}

func TestSignatureIgnoresWhatChangesByItself(t *testing.T) {
	for name, c := range map[string][2]string{
		"a test's own time":        {"--- FAIL: TestX (0.01s)", "--- FAIL: TestX (1.20s)"},
		"a jest time":              {"✕ rounds (5 ms)", "✕ rounds (17 ms)"},
		"the run's time":           {"1 failed in 0.09s", "1 failed in 1.10s"},
		"a measured time":          {"still waiting after 1.000213s", "still waiting after 1.000877s"},
		"a log's stamp":            {"2026/01/31 10:20:30 dial failed", "2026/02/01 01:02:03 dial failed"},
		"a structured log's stamp": {`time=2026-01-31T10:20:30.123Z level=ERROR msg=no`, `time=2027-01-31T10:20:30.9Z level=ERROR msg=no`},
		"the clock":                {"created 2026-01-31 10:20:30.123456 +0000", "created 2026-01-31 10:20:31.654321 +0000"},
		"an address":               {"got &{0xc000012345}", "got &{0xc0000abcde}"},
		"a Python object":          {"<Money object at 0x7f35d84ea4d0>", "<Money object at 0x7f35d84eb0d0>"},
		"a frame's arguments":      {"example.com/b.TestPanics(0x3fab080146c8?)", "example.com/b.TestPanics(0xb247310248?)"},
		"a frame's offset":         {"\tmoney.go:3 +0x28", "\tmoney.go:3 +0x1c"},
		"a goroutine":              {"goroutine 19 [running]:", "goroutine 7 [running]:"},
		"who made a goroutine":     {"created by testing.(*T).Run in goroutine 1", "created by testing.(*T).Run in goroutine 8"},
		"a process":                {"server pid 14010 died", "server pid 99 died"},
		"a Rust thread":            {"thread 'tests::rounds' (22047) panicked", "thread 'tests::rounds' (7210) panicked"},
		"a free port":              {"dial tcp 127.0.0.1:43567: refused", "dial tcp 127.0.0.1:39001: refused"},
		"a uuid":                   {"no order 0b6b1a52-93a6-4b8e-b1f3-0a4c3fbd2a11", "no order 7d2f0d1e-0c39-44ee-8f5b-aa11bb22cc33"},
		"a temporary directory":    {"open /tmp/TestRounds2566060226/001/a.txt: no", "open /tmp/TestRounds17/001/a.txt: no"},
		"a directory of its own":   {"wrote /tmp/money1234567", "wrote /tmp/money7654321"},
		"another temporary root":   {"open /tmp/x/a.txt: no", "open /var/folders/ab/cd1/T/x/a.txt: no"},
		"where the toolchain is":   {"\t/usr/local/go/src/testing/testing.go:1974", "\t/opt/go/src/testing/testing.go:2036"},
		"a line of the code":       {"money.go:12: panic: nil map", "money.go:14: panic: nil map"},
		"a line of Python code":    {`File "money.py", line 6, in parse`, `File "money.py", line 9, in parse`},
		"the order of lines":       {"a: 1\nb: 2", "b: 2\na: 1"},
		"how much is left out":     {"a\n… 12 lines left out\nb", "a\n… 13 lines left out\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			if a, b := Signature(failing(c[0], "TestX")), Signature(failing(c[1], "TestX")); a != b {
				t.Errorf("%q and %q are kept apart: %q, %q", c[0], c[1], steady(c[0]), steady(c[1]))
			}
		})
	}
}

func TestSignatureTellsFailuresApart(t *testing.T) {
	for name, c := range map[string][2]string{
		"another value":            {"got 99, want 100", "got 98, want 100"},
		"another assertion":        {"parse: got 1", "format: got 1"},
		"another line of the test": {"a_test.go:4: bad", "a_test.go:9: bad"},
		"a line in a test tree":    {`File "tests/money.py", line 6`, `File "tests/money.py", line 7`},
		"a round duration":         {"timeout = 5s, want 10s", "timeout = 6s, want 10s"},
		"a time of day as a value": {"got 10:20:30, want 11:00:00", "got 10:20:31, want 11:00:00"},
		"a small hex number":       {"flags = 0x1f", "flags = 0x2f"},
		"a version":                {"version v1.2.3", "version v1.2.4"},
		"a path that is a value":   {"GET /api/v1/users = 404", "GET /api/v2/users = 404"},
		"a port that is fixed":     {"dial example.com:443", "dial example.com:444"},
		"another panic":            {"panic: nil map", "panic: index out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			if Signature(failing(c[0], "TestX")) == Signature(failing(c[1], "TestX")) {
				t.Errorf("%q and %q are taken for the same: %q", c[0], c[1], steady(c[0]))
			}
		})
	}
	t.Run("another test", func(t *testing.T) {
		if Signature(failing("bad", "TestX")) == Signature(failing("bad", "TestY")) {
			t.Error("same signature")
		}
	})
	t.Run("the order of names does not count", func(t *testing.T) {
		if Signature(failing("bad", "TestX", "TestY")) != Signature(failing("bad", "TestY", "TestX")) {
			t.Error("two signatures")
		}
	})
	t.Run("passing evidence has none", func(t *testing.T) {
		if s := Signature(instance.Evidence{OK: true, Output: "fine"}); s != "" {
			t.Errorf("signature %q", s)
		}
	})
}
