package yamlfile_test

import (
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

func TestEachMistakeIsNamedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing wrong":  {"size: 1\n", ""},
		"an unknown key": {"# sizes\n\nsiez: 1\n", `f:3: unknown key "siez"; did you mean "size"?`},
		"a key twice":    {"size: 1\nsize: 2\n", `f:2: not YAML: mapping key "size" already defined at [1:1]`},
		"no value":       {"size:\n", `f:1: "size" has no value`},
		"no name":        {"1: 2\n", "f:1: want a name"},
		"a list":         {"\n- size\n", "f:2: want keys with values"},
		"two mistakes":   {"siez: 1\nsize:\n", "f:1: unknown key \"siez\"; did you mean \"size\"?\nf:2: \"size\" has no value"},
		"no YAML":        {"a: b\nsize: [\n", "f:2: not YAML: sequence end token ']' not found"},
	} {
		t.Run(name, func(t *testing.T) {
			r, got := yamlfile.Reader{File: "f"}, ""
			var doc yamlfile.Document
			if err := yamltext.Unmarshal([]byte(c.text), &doc); err != nil {
				r.Syntax(err)
			} else {
				r.Entries(doc.Body, func(key string, at workflow.Position, _ ast.Node) {
					if key != "size" {
						r.Unknown(at, "key", key, []string{"size"})
					}
				})
			}
			if err := r.Err(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" || (r.Problems() == 0) != (c.want == "") {
				t.Errorf("%d problems (-want +got):\n%s", r.Problems(), diff)
			}
		})
	}
}
