package localforge_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// TestGraphQLIsThatOfGitHub holds what the adapter asks, and what this forge offers, to
// GitHub's published GraphQL schema, if SIGNALBOX_GITHUB_GRAPHQL names a copy of it.
func TestGraphQLIsThatOfGitHub(t *testing.T) {
	named := os.Getenv("SIGNALBOX_GITHUB_GRAPHQL")
	if named == "" {
		t.Skip("not held to GitHub's GraphQL schema: SIGNALBOX_GITHUB_GRAPHQL names no file")
	}
	load := func(file string) *ast.Schema {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := gqlparser.LoadSchema(&ast.Source{Name: filepath.Base(file), Input: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	theirs, ours := load(named), load("rest/schema.graphql")
	queries, err := filepath.Glob("../forge/github/query/*.graphql")
	if err != nil || len(queries) == 0 {
		t.Fatalf("no queries: %v", err)
	}
	for _, file := range queries {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, schema := range map[string]*ast.Schema{"GitHub's": theirs, "this forge's": ours} {
			if _, wrong := gqlparser.LoadQueryWithRules(schema, string(text), rules.NewDefaultRules()); len(wrong) > 0 {
				t.Errorf("%s is not of %s schema: %v", filepath.Base(file), name, wrong)
			}
		}
	}
	fields := 0
	for name, mine := range ours.Types {
		if mine.BuiltIn {
			continue
		}
		other := theirs.Types[name]
		if other == nil || other.Kind != mine.Kind {
			t.Errorf("GitHub has no such type: %s", name)
			continue
		}
		for _, f := range mine.Fields {
			if f.Name == "__schema" || f.Name == "__type" {
				continue
			}
			if g := other.Fields.ForName(f.Name); g == nil || g.Type.String() != f.Type.String() {
				t.Errorf("%s.%s is a %s here, not so at GitHub", name, f.Name, f.Type)
			}
			fields++
		}
		for _, v := range mine.EnumValues {
			if other.EnumValues.ForName(v.Name) == nil {
				t.Errorf("GitHub has no %s.%s", name, v.Name)
			}
		}
	}
	t.Logf("%d queries and mutations, %d fields of this forge, held to GitHub's schema", len(queries), fields)
}
