package yamltext_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

// Each of these kept a parser busy for seconds to minutes, or is a relative of one that did.
func hostile() map[string]string {
	return map[string]string{
		"brackets":                strings.Repeat("[", 300_000),
		"braces":                  strings.Repeat("{", 300_000),
		"braces with keys":        strings.Repeat("{a: ", 50_000),
		"brackets over lines":     strings.Repeat("[\n", 100_000),
		"brackets between commas": strings.Repeat("[1,", 100_000),
		"lists in a line":         strings.Repeat("- ", 100_000) + "x",
		"keys in a line":          strings.Repeat("? ", 100_000) + "x",
		"much text":               strings.Repeat("a: b\n", 400_000),
	}
}

func TestATextThatTakesTooLongIsRefusedAtOnce(t *testing.T) {
	for name, text := range hostile() {
		var v any
		if err := yamltext.Unmarshal([]byte(text), &v); err == nil || len(err.Error()) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatPeopleWriteIsRead(t *testing.T) {
	var v struct {
		Test struct{ Command string }
		List []any
	}
	text := "test: {command: \"npm ci && [ -f x ]\"}\nlist:\n  - [1, [2, {a: [3]}]]\n  - - - x\n"
	if err := yamltext.Unmarshal([]byte(text), &v); err != nil || v.Test.Command != "npm ci && [ -f x ]" || len(v.List) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, text := range hostile() {
		f.Add([]byte(text[:min(len(text), 500)]))
	}
	f.Add([]byte("a: &x [b]\nc: *x\n"))
	f.Fuzz(func(_ *testing.T, src []byte) {
		var v any
		_ = yamltext.Unmarshal(src, &v)
	})
}
