package testrun

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Kind says what a file of a repository is to its tests.
type Kind string

const (
	Product Kind = ""        // nothing: it is what they test
	Test    Kind = "test"    // a test, or what tests read
	Harness Kind = "harness" // it says what is run, or runs it
)

var (
	harnessFile = regexp.MustCompile(`^(?:GNUmakefile|[Mm]akefile|.*\.mk|Justfile|justfile|Taskfile\.ya?ml|` +
		`pytest\.ini|\.?pytest\.toml|tox\.ini|noxfile\.py|setup\.cfg|pyproject\.toml|conftest\.py|(?:site|user)customize\.py|.*\.pth|(?:_?pytest|unittest)\.py|go\.work|` +
		`(?:jest|vitest|vite|karma|playwright|cypress|ava|wdio|babel)\.(?:config|conf|setup|workspace)\..+|\.mocharc(?:\..+)?|\.(?:nyc|c8|babel)rc(?:\..+)?|` +
		`package\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|\.pnp\..+|` +
		`\.gitlab-ci\.yml|Jenkinsfile|\.travis\.yml|azure-pipelines\.yml|` + regexp.QuoteMeta(ConfigFile) + `)$`)
	harnessDir = regexp.MustCompile(`(?:^|/)(?:node_modules/\.bin|_?pytest|unittest|\.github|\.gitlab|\.circleci|\.ci|\.cargo|\.yarn|\.husky)/`)
	testName   = regexp.MustCompile(`^(?:.*_test\.go|test_.*\.py|.*_test\.py|.*[._-](?:test|spec)\.[cm]?[jt]sx?|.*\.snap)$`)
	testDir    = regexp.MustCompile(`(?:^|/)(?:tests?|__tests__|__mocks__|__snapshots__|testdata|spec|specs|e2e|cypress)/`)
	testMain   = regexp.MustCompile(`(?m)^\s*func\s+TestMain\s*\(`)
)

// KindOf returns what a file is by its path, with slashes, and its content.
func KindOf(name string, content []byte) Kind {
	base := path.Base(name)
	switch {
	case harnessFile.MatchString(base), harnessDir.MatchString(name):
		return Harness
	case base == "go.mod" && name != base:
		return Harness // it takes its directory's tests out of those that are run
	case strings.HasSuffix(base, "_test.go") && testMain.Match(content):
		return Harness // it runs, or does not run, all tests of its package
	case testName.MatchString(base), testDir.MatchString(name):
		return Test
	}
	return Product
}

// Called lists the scripts of the tree that the plan's command calls, or the scripts of
// package.json or the Makefile that it runs, sorted. The command sh ci/all.sh calls
// ci/all.sh. Other programs that are called may be what is tested.
func Called(tree fs.FS, plan Plan) []string {
	if len(plan.Parts) > 0 {
		var all []string
		for _, part := range plan.Parts {
			all = append(all, Called(tree, part)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	texts := []string{strings.Join(plan.Argv, "\n")}
	switch plan.Tool {
	case "make":
		texts = append(texts, text(tree, plan.Source))
	case "npm", "pnpm", "yarn":
		texts = append(texts, scripts(text(tree, "package.json"))...)
	}
	found := map[string]bool{}
	for len(texts) > 0 {
		said := texts[0]
		texts = texts[1:]
		for _, word := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|()<>=$@,:", r) }) {
			name := path.Clean(strings.TrimPrefix(word, "./"))
			if found[name] || !fs.ValidPath(name) || !exists(tree, name) || !isScript(name) {
				continue
			}
			found[name] = true
			if ext := path.Ext(name); ext == ".sh" || ext == ".bash" {
				texts = append(texts, text(tree, name)) // what it calls in turn
			}
		}
	}
	var names []string
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isScript reports whether a file that a command names runs tests, by its name.
func isScript(name string) bool {
	ext := path.Ext(name)
	return ext == ".sh" || ext == ".bash" || scriptName.MatchString(name)
}

var scriptName = regexp.MustCompile(`(?i)(?:^|/)(?:scripts?|ci|hack|tools?|build)/|(?:^|[/._-])(?:run[._-]?)?(?:tests?|check|verify|ci)(?:[._-]|$)|(?:^|/)(?:gradlew|mvnw)$`)

// scripts lists the scripts of package.json that a test command may run.
func scripts(content string) []string {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(content), &pkg) != nil {
		return nil
	}
	var all []string
	for _, script := range pkg.Scripts {
		all = append(all, script)
	}
	return all
}

// ownKeys are the keys of package.json that a change may make its own: what it needs.
// All others, which say how the package is built and tested, are those of before.
var ownKeys = []string{
	"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "peerDependenciesMeta", "bundledDependencies",
	"version", "description", "keywords", "author", "contributors", "license", "homepage", "bugs", "repository", "funding", "files",
	"main", "module", "browser", "types", "typings", "exports", "imports", "bin", "type", "sideEffects", "private",
}

// PackageJSON returns the change's package.json with what before says of how it is
// tested. ok is false if either is no JSON object; before then holds as it is.
func PackageJSON(before, change []byte) (merged []byte, ok bool) {
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(change, &is) != nil {
		return before, false
	}
	for key := range is {
		if !slices.Contains(ownKeys, key) {
			delete(is, key)
		}
	}
	for key, value := range was {
		if !slices.Contains(ownKeys, key) {
			is[key] = value
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(is) != nil {
		return before, false
	}
	return out.Bytes(), true
}

// SameHarness reports whether a package.json says the same of how it is tested.
func SameHarness(before, change []byte) bool {
	merged, ok := PackageJSON(before, change)
	if !ok {
		return bytes.Equal(before, change)
	}
	var a, b any
	return json.Unmarshal(merged, &a) == nil && json.Unmarshal(change, &b) == nil && equalJSON(a, b)
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
