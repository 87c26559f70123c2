package testrun

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Kind is the role of a repository's file for its tests.
type Kind string

const (
	Product Kind = ""        // nothing: it is what they test
	Test    Kind = "test"    // a test, or what tests read
	Harness Kind = "harness" // it says what is run, or runs it
)

var (
	harnessFile = lazyregexp.New(`^(?:GNUmakefile|[Mm]akefile|.*\.mk|\.?[Jj]ustfile|[Tt]askfile\.ya?ml|manage\.py|Rakefile|CMakeLists\.txt|.*\.cmake|Earthfile|` +
		`pytest\.ini|\.?pytest\.toml|tox\.ini|noxfile\.py|\.coveragerc|conftest\.(?:py|so|pyd)|(?:site|user)customize\.py|.*\.pth|go\.work|setup\.py|` +
		`(?:jest|vitest|vite|karma|playwright|cypress|ava|wdio|babel|swc|tsup|webpack|rollup)\.(?:config|conf|setup|workspace)\..+|` +
		`(?i:jest|vitest|test|setup)[._-]?(?i:setup|tests?)(?:[._-]?(?i:env|framework|files?))?\.[cm]?[jt]sx?|\.mocharc(?:\..+)?|\.(?:nyc|c8|babel|swc)rc(?:\..+)?|` +
		`\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|\.pnp\..+|deno\.jsonc?|bunfig\.toml|\.rspec|phpunit\.xml(?:\.dist)?|` +
		`build\.rs|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|gradle\.properties|gradlew|mvnw|nextest\.toml|rust-toolchain(?:\.toml)?|` +
		`\.gitlab-ci\.yml|Jenkinsfile|\.travis\.yml|azure-pipelines\.yml|` + regexp.QuoteMeta(ConfigFile) + `)$`)
	manifest   = lazyregexp.New(`^(?:package\.json|pyproject\.toml|setup\.cfg|Cargo\.toml|pom\.xml)$`)
	harnessDir = lazyregexp.New(`(?:^|/)(?:node_modules|_pytest|pytest|unittest|pluggy|iniconfig|\.github|\.gitlab|\.circleci|\.ci|\.cargo|\.config|\.mvn|\.yarn|\.husky)/`)
	testName   = lazyregexp.New(`^(?:.*_test\.go|test_.*\.py|.*_test\.py|.*[._-](?:test|spec)\.[cm]?[jt]sx?|.*\.snap|.*(?:_spec|_test)\.rb|test_.*\.rb|` +
		`.*Tests?\.(?:java|kt|scala|groovy|cs|fs|swift|php)|Test[A-Z].*\.java|.*IT\.java|.*_test\.(?:dart|exs?)|(?:.*_tests?|test_.*)\.(?:c|cc|cpp|cxx)|(?i:tests?)[._-]?(?i:utils?|helpers?)\.[a-z]+|.*Spec\.(?:scala|groovy|hs)|.*\.bats|.*_test\.sh|.*\.t)$`)
	testDir  = lazyregexp.New(`(?i)(?:^|/)(?:tests?|__tests__|__mocks__|__snapshots__|testdata|spec|specs|e2e|cypress|fixtures|golden|testutils?|test[-_]utils)/|^t/`)
	testMain = lazyregexp.New(`(?m)^\s*func\s+TestMain\s*\(`)
)

// KindOf returns what a file is by its path, with slashes, and its content alone. Judges
// knows more: it has seen the repository.
func KindOf(name string, content []byte) Kind {
	switch base := path.Base(name); {
	case harnessFile.MatchString(base), harnessDir.MatchString(name), manifest.MatchString(base) && base != "Cargo.toml" && base != "pom.xml":
		return Harness
	case base == "go.mod" && name != base:
		return Harness // it takes its directory's tests out of those that are run
	case strings.HasSuffix(base, "_test.go") && testMain.Match(content):
		return Harness // it runs, or does not run, all tests of its package
	case Shadows(name) != "":
		return Harness
	case testName.MatchString(base), testDir.MatchString(name):
		return Test
	}
	return Product
}

// Judges has the files of a repository that decide whether a change is right: those that a
// runner collects, those that steer one, and those that the configuration of the base names.
// All others are judged, whatever their names suggest.
type Judges struct {
	settings Settings
	called   map[string]bool // scripts that run the tests
	testDirs map[string]bool // directories that hold tests which a runner collects
}

// JudgesOf finds what judges changes of a tree by the plans.
func JudgesOf(tree fs.FS, plans ...Plan) Judges {
	j := Judges{called: map[string]bool{}, testDirs: map[string]bool{}}
	j.settings, _ = settingsOf(tree) // a file that cannot be read is reported by Detect
	for _, plan := range plans {
		for _, name := range Called(tree, plan) {
			j.called[name] = true
		}
	}
	visited := 0
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if visited++; err != nil || visited > maxVisited {
			return fs.SkipAll
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if dir, ok := testRoot(name); ok && !d.IsDir() && (testName.MatchString(path.Base(name)) || rustTest(name) || dataDir(dir)) {
			j.testDirs[dir] = true
		}
		return nil
	})
	return j
}

// testRoot returns the outermost directory of a path that is named like one of tests.
func testRoot(name string) (string, bool) {
	at := testDir.FindStringIndex(name)
	if at == nil {
		return "", false
	}
	return name[:at[1]], true
}

// rustTest reports whether cargo takes the file for a test: it lies in tests itself.
func rustTest(name string) bool {
	return path.Ext(name) == ".rs" && path.Base(path.Dir(name)) == "tests"
}

// dataDir reports whether a directory holds data of tests by a name that nothing else has.
func dataDir(dir string) bool {
	switch path.Base(dir) {
	case "testdata", "__tests__", "__mocks__", "__snapshots__", "fixtures", "golden", "testutil", "testutils", "test-utils", "test_utils":
		return true
	}
	return false
}

// Kind returns what a file of a change is. before and now are its contents, nil if it is not
// there.
func (j Judges) Kind(name string, before, now []byte) Kind {
	base := path.Base(name)
	switch {
	case Match(j.settings.Product, name):
		return Product
	case Match(j.settings.Judges, name), j.called[name]:
		return Harness
	case harnessFile.MatchString(base), harnessDir.MatchString(name), base == "go.mod" && name != base:
		return Harness
	case base == "package.json" && before == nil && name != base: // a package that is new is its own
		return Product
	case manifest.MatchString(base):
		if SameSteering(base, before, now) {
			return Product
		}
		return Harness
	case before == nil && Shadows(name) != "":
		return Harness
	case strings.HasSuffix(base, "_test.go") && (testMain.Match(now) || testMain.Match(before)):
		return Harness
	case testName.MatchString(base), rustTest(name):
		return Test
	}
	if dir, ok := testRoot(name); ok && (j.testDirs[dir] || dataDir(dir)) {
		return Test // a helper of tests, or what they read
	}
	return Product
}

var source = lazyregexp.New(`(?i)\.(?:[cm]?[jt]sx?|go|py[xi]?|rb|rs|java|kts?|scala|groovy|clj[cs]?|c|cc|cpp|cxx|h|hh|hpp|hxx|cs|fs|vb|php|p[lm]|swift|m|mm|dart|exs?|erl|hs|` +
	`lua|r|jl|nim|zig|sh|bash|ps1|sql|vue|svelte|html?|s?css|less|proto)$`)

// Source reports whether a file is code of a program, by its name.
func Source(name string) bool { return source.MatchString(name) }

// Called lists the scripts of the tree that run the plan's tests, sorted: the command's own
// script, those that it calls and that call a runner of tests or are named like one. Other
// programs that are called may be what is tested.
func Called(tree fs.FS, plan Plan) []string {
	if len(plan.Parts) > 0 {
		var all []string
		for _, part := range plan.Parts {
			all = append(all, Called(tree, part)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	command := strings.Join(plan.Argv, "\n")
	if plan.Tool == "configured" && len(plan.Argv) > 0 {
		command = plan.Argv[len(plan.Argv)-1]
	}
	texts := []string{command}
	switch plan.Tool {
	case "make":
		texts = append(texts, text(tree, plan.Source))
	case "npm", "pnpm", "yarn":
		texts = append(texts, scripts(text(tree, "package.json"))...)
	}
	found := map[string]bool{}
	own := len(texts) // what follows is called by scripts
	for ; len(texts) > 0; own-- {
		said, alone := texts[0], ""
		texts = texts[1:]
		if own > 0 {
			alone = soleScript(said)
		}
		for _, word := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|()<>=$@,:", r) }) {
			name := path.Clean(strings.TrimPrefix(word, "./"))
			if found[name] || !fs.ValidPath(name) || !exists(tree, name) {
				continue
			}
			content := text(tree, name)
			if name != alone && !scriptName.MatchString(path.Base(name)) && !(isShell(name, content) && runsTests.MatchString(content)) {
				continue
			}
			found[name] = true
			if isShell(name, content) {
				texts = append(texts, content) // what it calls in turn
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// soleScript returns the script that is all of a command: sh all.sh -v; empty for none.
func soleScript(command string) string {
	command = strings.TrimSpace(command)
	if strings.ContainsAny(command, "\n|;&<>`$(") {
		return ""
	}
	words := strings.Fields(command)
	if len(words) > 1 && interpreter.MatchString(path.Base(words[0])) {
		words = words[1:]
	} else if len(words) > 0 && !strings.HasSuffix(words[0], ".sh") {
		return ""
	}
	if len(words) == 0 {
		return ""
	}
	return path.Clean(strings.TrimPrefix(words[0], "./"))
}

func isShell(name, content string) bool {
	return path.Ext(name) == ".sh" || path.Ext(name) == ".bash" || shebang.MatchString(content)
}

var (
	interpreter = lazyregexp.New(`^(?:(?:ba|da|k|z)?sh|python[\d.]*|node|perl|ruby|php|bash|deno|bun)$`)
	shebang     = lazyregexp.New(`^#!\s*\S*(?:/|env )(?:ba|da|k|z)?sh\b`)
	scriptName  = lazyregexp.New(`(?i)^(?:run[._-]?)?(?:all[._-]?)?(?:tests?|check|verify|ci|spec)(?:[._-]|$)|[._-](?:tests?|check|verify|ci|spec)\.[a-z]+$|^(?:gradlew|mvnw)$`)
	// runsTests matches a call of a runner of tests.
	runsTests = lazyregexp.New(`\b(?:go test|pytest|-m unittest|npm (?:run )?test|npm t\b|yarn test|pnpm test|jest|vitest|mocha|node --test|cargo (?:test|nextest)|` +
		`rspec|rake (?:test|spec)|minitest|mvn\b.*\b(?:test|verify)|gradlew?\b.*\b(?:test|check)|ctest|phpunit|bats|prove|tox|nox|dotnet test|swift test|mix test|make (?:test|check))\b`)
)

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
