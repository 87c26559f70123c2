package testrun

import (
	"io/fs"
	"path"
	"strings"
)

// python detects pytest by its configuration or its file names. It chooses unittest
// if the tests are written for that and nothing mentions pytest.
func python(tree fs.FS, _ string) (Plan, bool, error) {
	plan, found := pythonPlan(tree)
	if found && layout(tree) {
		plan.Env = append(plan.Env, "PYTHONPATH=src") // as if the project were installed
	}
	return plan, found, nil
}

// layout reports whether the packages of a Python project lie in src.
func layout(tree fs.FS) bool {
	for _, pattern := range []string{"src/*/__init__.py", "src/*.py"} {
		if found, _ := fs.Glob(tree, pattern); len(found) > 0 { // the pattern is well formed
			return true
		}
	}
	return false
}

func pythonPlan(tree fs.FS) (Plan, bool) {
	custom := []string{"PYTHONDONTWRITEBYTECODE=1"}
	pytest := Plan{
		Tool: "pytest", Runner: "pytest",
		// -v and -rfEp name every test, whatever the repository adds; no cache: the tree stays as it was.
		Argv:   []string{"python3", "-m", "pytest", "-v", "-rfEp", "-p", "no:cacheprovider"},
		custom: custom,
	}
	for _, c := range []struct{ name, section string }{
		{"pytest.ini", ""}, {"conftest.py", ""}, {"tests/conftest.py", ""}, {"test/conftest.py", ""},
		{"pyproject.toml", "[tool.pytest"}, {"setup.cfg", "[tool:pytest]"}, {"tox.ini", "[pytest]"},
	} {
		if exists(tree, c.name) && strings.Contains(text(tree, c.name), c.section) {
			pytest.Source = c.name
			return pytest, true
		}
	}
	files := pythonTests(tree)
	if len(files) == 0 {
		return Plan{}, false
	}
	pytest.Source = files[0]
	for _, name := range []string{"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "requirements.txt", "requirements-dev.txt",
		"dev-requirements.txt"} {
		if strings.Contains(text(tree, name), "pytest") {
			return pytest, true
		}
	}
	for _, name := range files {
		if content := text(tree, name); strings.Contains(content, "pytest") || !strings.Contains(content, "unittest") {
			return pytest, true
		}
	}
	unittest := Plan{Tool: "unittest", Runner: "unittest", Source: files[0], custom: custom, Argv: []string{"python3", "-m", "unittest", "discover", "-v"}}
	// discover enters packages only; other test directories must be named.
	if dir := path.Dir(files[0]); dir != "." && !exists(tree, path.Join(dir, "__init__.py")) {
		unittest.Argv = append(unittest.Argv, "-s", dir)
	}
	return unittest, true
}

// pythonTests returns the test files at the root and in tests and test, two levels deep.
func pythonTests(tree fs.FS) (files []string) {
	for _, dir := range []string{"", "tests/", "test/", "tests/*/", "test/*/"} {
		for _, name := range []string{"test_*.py", "*_test.py"} {
			found, _ := fs.Glob(tree, dir+name) // the patterns are well formed
			files = append(files, found...)
		}
	}
	return files
}
