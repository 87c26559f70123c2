package testrun_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

func TestWhatIsMissingIsNamedWithWhoAskedForItAndTheLineThatHelps(t *testing.T) {
	const script = `{"scripts": {"test": "jest"}, "devDependencies": {"jest": "30"}}`
	for name, c := range map[string]struct {
		files []string
		out   string
		want  string // "" if nothing is named
	}{
		"a program of package.json": {[]string{"package.json", script, "package-lock.json", "{}"}, "> jest\nsh: 1: jest: not found\n",
			`jest asks for the program jest, which is not installed here. Install what package-lock.json names: add to .signalbox.yaml: setup: {command: "npm ci"}`},
		"a program of pnpm": {[]string{"package.json", script, "pnpm-lock.yaml", ""}, "sh: jest: command not found\n",
			`jest asks for the program jest, which is not installed here. Install what pnpm-lock.yaml names: add to .signalbox.yaml: setup: {command: "pnpm install --frozen-lockfile"}`},
		"a program of a command": {[]string{".signalbox.yaml", "test: {command: mytestrunner --all}\n"}, "sh: 1: mytestrunner: not found\n",
			`mytestrunner --all asks for the program mytestrunner, which is not installed here. Install mytestrunner where the agents run`},
		"pytest": {[]string{"pytest.ini", "", "requirements-dev.txt", "pytest"}, "/usr/bin/python3: No module named pytest\n",
			`pytest asks for the module pytest, which is not installed. Install what requirements-dev.txt names: add to .signalbox.yaml: setup: {command: "python3 -m pip install -r requirements-dev.txt"}`},
		"a module that is the repository's own": {[]string{"pytest.ini", "", "lib/greet/__init__.py", ""},
			"E   ModuleNotFoundError: No module named 'greet'\n",
			`pytest asks for the module greet, which is the repository's own, in lib: add to .signalbox.yaml: env: {PYTHONPATH: lib}`},
		"a version that the installation writes": {[]string{"pytest.ini", "", "src/greet/__init__.py", "from greet._version import __version__"},
			"E   ModuleNotFoundError: No module named 'greet._version'\n",
			`pytest asks for the module greet._version; no file of the repository has it, and installing the package makes it: ` +
				`add to .signalbox.yaml: setup: {command: "echo '__version__ = version = \"0\"' > src/greet/_version.py"}`},
		"an extension that the installation builds": {[]string{"pytest.ini", "", "src/greet/__init__.py", ""},
			"E   ModuleNotFoundError: No module named 'greet._speedups'\n",
			`pytest asks for the module greet._speedups; no file of the repository has it, and installing the package makes it: ` +
				`add to .signalbox.yaml: setup: {command: "python3 -m pip install --no-deps --editable ."}`},
		"a module below one of its own": {[]string{"pytest.ini", "", "lib/greet/__init__.py", "", "lib/greet/a.py", ""},
			"E   ModuleNotFoundError: No module named 'greet.a'\n",
			`pytest asks for the module greet.a, which is the repository's own, in lib: add to .signalbox.yaml: env: {PYTHONPATH: lib}`},
		"a package of node": {[]string{"package.json", `{"scripts": {"test": "node test.js"}}`}, "Error: Cannot find module '@scope/a/b'\nRequire stack:\n",
			`npm test asks for the module @scope/a, which is not installed. Install @scope/a where the agents run`},
		"a file of its own": {[]string{"package.json", `{"scripts": {"test": "node test.js"}}`}, "Error: Cannot find module './sum'\n", ""},
		"a module of Go": {[]string{"go.mod", goMod}, "go: example.com/y@v1.0.0: module lookup disabled by GOPROXY=off\n",
			`go asks for the module example.com/y, which is not installed. Install what go.mod names`},
		"a gem": {[]string{"Rakefile", "task :test\n", "Gemfile", ""}, "Could not find rake-13.0.6, minitest-5.1.0 in any of the sources\nRun `bundle install` to install missing gems.\n",
			`bundler asks for the module rake-13.0.6, which is not installed. Install what Gemfile names: add to .signalbox.yaml: setup: {command: "bundle install"}`},
		"an artifact of Maven": {[]string{"pom.xml", ""}, "[ERROR] Failed to execute goal on project x: Could not resolve dependencies for project a:x:jar:1: Cannot access central (https://repo.example) in offline mode and the artifact junit:junit:jar:4.13.2 has not been downloaded from it before. -> [Help 1]\n",
			`mvn asks for the module junit:junit:jar:4.13.2, which is not installed. Install what pom.xml names: add to .signalbox.yaml: setup: {command: "mvn -B dependency:go-offline"}`},
		"a package of Gradle": {[]string{".signalbox.yaml", "test: {command: ./gradlew test}\n", "build.gradle", ""}, "> Could not resolve all files for configuration ':testCompileClasspath'.\n   > Could not resolve junit:junit:4.13.2.\n",
			`gradle asks for the module junit:junit:4.13.2, which is not installed. Install what build.gradle names: add to .signalbox.yaml: setup: {command: "./gradlew --no-daemon testClasses"}`},
		"a host of npm": {[]string{".signalbox.yaml", "test: {command: npm install && npm test}\n"},
			"npm error code EAI_AGAIN\nnpm error request to https://registry.example/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.example\n",
			"the sandbox has no network: npm asked for registry.example; allow it with --egress registry.example"},
		"a host of pip": {[]string{".signalbox.yaml", "test: {command: pip install x}\n"},
			"WARNING: Retrying after connection broken by 'NewConnectionError: HTTPSConnectionPool(host='index.example', port=443): Max retries exceeded (Caused by NameResolutionError(...))'\n",
			"the sandbox has no network: pip asked for index.example; allow it with --egress index.example"},
		"a host of curl": {[]string{".signalbox.yaml", "test: {command: curl x}\n"}, "curl: (6) Could not resolve host: data.example\n",
			"the sandbox has no network: curl x asked for data.example"},
		"a shim": {[]string{".signalbox.yaml", "test: {command: python3 check.py}\n"},
			"/home/ann/.pyenv/shims/python3: line 8: /home/ann/.pyenv/libexec/pyenv: No such file or directory\n",
			"a program in PATH is a shim of /home/ann/.pyenv, whose files the sandbox does not show: --brain-read /home/ann/.pyenv"},
		"nothing": {[]string{"go.mod", goMod}, "--- FAIL: TestX\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.files...)
			plan, err := testrun.Detect(tree(c.files...))
			if err != nil {
				t.Fatal(err)
			}
			if got := testrun.Missing(c.out, plan, dir, sandbox.Bwrap); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTheObstacleOfARunNamesWhatIsMissing(t *testing.T) {
	ev := run(t, write(t, ".signalbox.yaml", "test: {command: mytestrunner --all}\n"))
	if got := testrun.Obstacle(ev); !strings.HasPrefix(got, "mytestrunner --all asks for the program mytestrunner") || !testrun.CouldNotRun(ev) {
		t.Errorf("got %q of %+v", got, ev)
	}
	ev = run(t, write(t, ".signalbox.yaml", "test: {command: \"echo npm ERR! network request failed, reason: getaddrinfo ENOTFOUND a.example; exit 1\"}\n"))
	if got := testrun.Obstacle(ev); got != "npm asked for a.example, which cannot be reached from here" {
		t.Errorf("got %q of %+v", got, ev)
	}
}
