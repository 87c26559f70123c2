package workflow

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// reference is the page that says how a definition is written.
func reference(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "lifecycles.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestTheExamplesOfTheReferenceAreProven(t *testing.T) {
	examples := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(reference(t), -1)
	if len(examples) < 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, example := range examples {
		d, err := Load("lifecycles.md", []byte(example[1]))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range Verify(d, services(t)...) {
			t.Error(p)
		}
	}
}

func TestTheLifecyclesInTheDirectoryOfExamplesAreProven(t *testing.T) {
	defs, err := LoadDir(os.DirFS(filepath.Join("..", "..", "..", "docs", "example")))
	if err != nil {
		t.Fatal(err)
	}
	if len(defs) == 0 {
		t.Fatal("there are none")
	}
	for _, d := range defs {
		for _, p := range Verify(d, append(services(t), "scribe", "checker", "editor")...) {
			t.Error(p)
		}
	}
}

func TestTheReferenceHasEveryKeyOfTheLanguage(t *testing.T) {
	page := reference(t)
	keys := 0
	for _, file := range []string{"file.go", "row.go"} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range regexp.MustCompile(`(?m)"([a-z]+)": +(?:r\.|placed|values|func)`).FindAllStringSubmatch(string(src), -1) {
			keys++
			if !strings.Contains(page, "`"+key[1]+"`") && !strings.Contains(page, "{"+key[1]+", ") && !strings.Contains(page, ", "+key[1]+"}") {
				t.Errorf("%s has the key %s, the page has not", file, key[1])
			}
		}
	}
	if keys < 40 {
		t.Errorf("only %d keys found", keys)
	}
	for _, action := range actions {
		if !strings.Contains(page, "`"+action+"`") {
			t.Errorf("the page lacks the action %s", action)
		}
	}
	for action, roles := range doers {
		row := "| `" + action + "` | " + cmp.Or(marked(roles, code), "any") + " |"
		if !strings.Contains(page, row) {
			t.Errorf("the page lacks %s", row)
		}
	}
}

func TestTheReferenceHasEveryFact(t *testing.T) {
	page := reference(t)
	facts := reflect.TypeFor[Facts]()
	for field := range facts.Fields() {
		name := field.Tag.Get("cel")
		if name == "-" {
			continue
		}
		row, _, _ := strings.Cut(page[max(0, strings.Index(page, "| `"+name+"` |")):], "\n")
		group := field.Type
		if group.Kind() == reflect.Map {
			group = group.Elem()
		}
		for inner := range group.Fields() {
			if tag := inner.Tag.Get("cel"); !strings.Contains(row, "`"+tag+"`") {
				t.Errorf("the page lacks %s.%s", name, tag)
			}
		}
	}
}
