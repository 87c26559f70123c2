package workflow

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestACatalogAnswersByNameAndByHash(t *testing.T) {
	old := loaded(t, small)
	newer, err := old.WithPolicy(map[string]any{"most": 9})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCatalog(old, newer)
	if d, err := c.Named("small"); d != newer || err != nil {
		t.Errorf("Named = %p, %v; want the newer", d, err)
	}
	for _, want := range []*Definition{old, newer} {
		if d, ok := c.Hashed(want.Hash); d != want || !ok {
			t.Errorf("Hashed(%s) = %p, %v", want.Hash, d, ok)
		}
	}
	if all := c.All(); len(all) != 1 || all[0] != newer {
		t.Errorf("All has %d definitions, want the newer alone", len(all))
	}
}

func TestACatalogSaysWhichNamesThereAre(t *testing.T) {
	c := NewCatalog(builtins(t)...)
	for name, want := range map[string]string{
		"isue": `unknown workflow "isue"; did you mean "issue"?`,
		"saga": `unknown workflow "saga", want one of ` + strings.Join(BuiltinNames(), ", "),
	} {
		_, err := c.Named(name)
		if !errors.Is(err, ErrUnknown) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, ok := c.Hashed("0000"); ok {
		t.Error("an unknown hash is known")
	}
}

func TestTheZeroCatalogIsEmpty(t *testing.T) {
	var c Catalog
	if _, err := c.Named("issue"); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want ErrUnknown", err)
	}
	c.Add(loaded(t, small))
	if _, err := c.Named("small"); err != nil {
		t.Error(err)
	}
}

func TestACatalogKeepsADefinitionThatItsNameDoesNotMean(t *testing.T) {
	old := loaded(t, small)
	newer, err := old.WithPolicy(map[string]any{"most": 9})
	if err != nil {
		t.Fatal(err)
	}
	var c Catalog
	c.Keep(old)
	if _, err := c.Named("small"); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want ErrUnknown", err)
	}
	c.Add(newer)
	c.Keep(old)
	if d, err := c.Named("small"); d != newer || err != nil {
		t.Errorf("Named = %p, %v; want the newer", d, err)
	}
	if d, ok := c.Hashed(old.Hash); d != old || !ok {
		t.Errorf("Hashed(%s) = %p, %v; want the older", old.Hash, d, ok)
	}
}

func files(sources map[string]string) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, src := range sources {
		dir[name] = &fstest.MapFile{Data: []byte(src)}
	}
	return dir
}

func TestLoadDirLoadsFilesThatExtendOneAnother(t *testing.T) {
	defs, err := LoadDir(files(map[string]string{
		"a.yaml":      over, // extends small, which comes later
		"z.yml":       small,
		"ours.yaml":   "workflow: ours\nversion: 1\nextends: issue\npolicy: {max_iterations: 3}\n",
		"notes.md":    "# not a definition",
		"sub/x.yaml":  "not looked at",
		"README.yaml": "# nothing but a comment\nworkflow: issue-strict\nversion: 1\nextends: ours\npolicy: {max_iterations: 1}\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	budgets := map[string]any{}
	for _, d := range defs {
		budgets[d.Name] = d.Policy["max_iterations"]
	}
	want := map[string]any{"large": nil, "small": nil, "ours": int64(3), "issue-strict": int64(1)}
	if diff := cmp.Diff(want, budgets); diff != "" {
		t.Error(diff)
	}
}

func TestLoadDirPrefersAFileToTheBuiltinOfItsName(t *testing.T) {
	defs, err := LoadDir(files(map[string]string{
		"a.yaml":     strings.Replace(over, "extends: small", "extends: issue", 1),
		"issue.yaml": strings.Replace(small, "workflow: small", "workflow: issue", 1),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(defs) != 2 || len(defs[1].States) != 4 {
		t.Errorf("%d definitions, the overlay has states %v", len(defs), defs[1].StateNames())
	}
}

func TestLoadDirLaysAFileOverTheBuiltinOfItsName(t *testing.T) {
	defs, err := LoadDir(files(map[string]string{
		"over.yaml": "workflow: slow\nversion: 1\nextends: task\n",
		"task.yaml": "workflow: task\nversion: 2\nextends: task\npolicy: {failure_limit: 7}\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defs {
		if d.Policy["failure_limit"] != int64(7) || len(d.States) != 12 {
			t.Errorf("%s has a limit of %v and %d states", d.Name, d.Policy["failure_limit"], len(d.States))
		}
	}
}

func TestAFileAloneMayExtendOnlyAnother(t *testing.T) {
	if _, err := LoadDir(files(map[string]string{"a.yaml": "workflow: a\nversion: 1\nextends: a\n"})); err == nil || !strings.Contains(err.Error(), `extends "a": it extends itself`) {
		t.Error(err)
	}
}

func TestLoadDirSaysWhatIsWrongWithEveryFile(t *testing.T) {
	_, err := LoadDir(files(map[string]string{
		"a.yaml": "workflow: a\nversion: 1\nextends: b\n",
		"b.yaml": "workflow: b\nversion: 1\nextends: a\n",
		"c.yaml": over,
		"d.yaml": strings.Replace(small, "owner: dev", "ownr: dev", 1),
		"e.yaml": "workflow: large\nversion: 1\n",
		"f.yaml": "states: [",
	}))
	for _, want := range []string{
		`a.yaml:3:10: extends "b": it is wrong itself`,
		`b.yaml:3:10: extends "a": it extends itself`,
		`c.yaml:3:10: extends "small": it is wrong itself`,
		`d.yaml:13:5: unknown key "ownr"; did you mean "owner"?`,
		`e.yaml:1:11: c.yaml already defines "large"`,
		`f.yaml:1:`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error\n%v\nlacks %s", err, want)
		}
	}
}

func TestRolesOwnTheirStates(t *testing.T) {
	d := builtinNamed(t, "issue-navigator")
	own := Definition{States: ownStates(d)}
	if diff := cmp.Diff([]string{"pm", "analyst", "tester", "developer", "navigator"}, own.Roles()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"reviewing_code", "reviewing_architecture", "reviewing_integration"}, d.OwnedBy("navigator")); diff != "" {
		t.Error(diff)
	}
	if got := d.OwnedBy("nobody"); got != nil {
		t.Errorf("nobody owns %v", got)
	}
}
