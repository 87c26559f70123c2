package repoconfig

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

var rows = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| .* \\| `(.*)` \\|$")

func TestThePageHasEachKeyWithAnExampleThatIsRight(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	right := func(src []byte) {
		c, err := Parse("f", src)
		if err == nil {
			err = c.Check(Operator{Definitions: defs, Lifecycles: []string{"story"}})
		}
		if err != nil {
			t.Errorf("%s\n%v", src, err)
		}
	}
	var documented []string
	for _, row := range rows.FindAllSubmatch(page, -1) {
		documented = append(documented, string(row[1]))
		right(row[2])
	}
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Sorted(maps.Keys((&reader{}).top())), documented); diff != "" {
		t.Errorf("keys (-known +documented):\n%s", diff)
	}
	example, err := os.ReadFile("../../../docs/example/repository/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	right(example)
	right(regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)[1])
}
