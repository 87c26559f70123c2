package docs_test

// repository is a script that makes a repository of the files that are in a directory.
const repository = `
begin() {
	git -C "$1" init --quiet --initial-branch=main
	git -C "$1" add --all
	git -C "$1" -c user.name=Ann -c user.email=ann@example.test commit --quiet --message "$2"
}
`

// greeting is a script that makes the repository greet of Go, with a bug.
const greeting = repository + `
mkdir greet
printf 'module example.com/greet\n\ngo 1.22\n' >greet/go.mod
printf 'package greet\n\n// Hello greets.\nfunc Hello(name string) string { return "Helo, " + name + "!" }\n' >greet/greet.go
printf 'package greet\n\nimport "testing"\n\nfunc TestHelloIsNotEmpty(t *testing.T) {\n\tif Hello("Ann") == "" {\n\t\tt.Error("it says nothing")\n\t}\n}\n' >greet/greet_test.go
begin greet Begin
`

// report is a script that reports that bug.
const report = `
printf '# Hello is spelled wrong\n\nSteps: call \140greet.Hello("Ann")\140.\nExpected: \140Hello, Ann!\140\nActual: \140Helo, Ann!\140\nWhere: \140greet.go\140.\nDone when: the tests pass.\n' >issue.md
`

// needs are programs that the commands of a page start, but do not name.
var needs = map[string][]string{
	"docs/guide/npm.md":    {"npm", "node"},
	"docs/guide/python.md": {"python3"},
}

// played are the pages whose transcripts are run, each with what lies there before.
// Files that a page prints are as it prints them.
var played = map[string]string{
	"README.md": `
mkdir bin
ln -s "$(command -v signalbox)" bin/
`,
	"docs/guide/agent.md":    greeting,
	"docs/guide/evidence.md": greeting + report,
	"docs/guide/github.md":   greeting,
	"docs/guide/lifecycle.md": greeting + report + `
mkdir lifecycle
cp "$docs/example/fix.yaml" lifecycle/
`,
	"docs/guide/monorepo.md": greeting + `
mkdir -p shop/worker
rm -rf greet/.git
mv greet shop/api
sed -i s/greet$/api/ shop/api/go.mod
printf 'module example.com/worker\n\ngo 1.22\n' >shop/worker/go.mod
printf 'package worker\n\nimport "testing"\n\nfunc TestNothing(*testing.T) {}\n' >shop/worker/worker_test.go
begin shop Begin
`,
	"docs/guide/npm.md": repository + `
mkdir greet
printf '{"name": "greet", "version": "1.0.0", "main": "greet.js", "scripts": {"test": "node --test"}}\n' >greet/package.json
printf 'exports.hello = (name) => "Helo, " + name + "!";\n' >greet/greet.js
printf 'const test = require("node:test");\nconst { ok } = require("node:assert");\nconst { hello } = require("./greet.js");\n\ntest("hello is not empty", () => ok(hello("Ann")));\n' >greet/greet.test.js
cp -r greet locked
printf '{"name": "greet", "version": "1.0.0", "dependencies": {"words": "1.0.0"}, "scripts": {"test": "node --test"}}\n' >locked/package.json
printf '{"lockfileVersion": 3, "packages": {}}\n' >locked/package-lock.json
begin greet Begin
begin locked Begin
`,
	"docs/guide/python.md": repository + `
mkdir greet
printf 'def hello(name):\n    return "Helo, " + name + "!"\n' >greet/greet.py
printf 'import unittest\n\nimport greet\n\n\nclass Hello(unittest.TestCase):\n    def test_is_not_empty(self):\n        self.assertTrue(greet.hello("Ann"))\n' >greet/test_greet.py
cp -r greet tested
echo '[pytest]' >tested/pytest.ini
echo pytest >tested/requirements.txt
begin greet Begin
begin tested Begin
`,
	"docs/guide/team.md": greeting,
	"docs/guide/waits.md": greeting + `
printf '#!/bin/sh\nsed -i s/Helo/Hello/ greet.go\necho spell Hello right\n' >fix.sh
chmod +x fix.sh
`,
	"docs/guide/tests-fail.md": greeting + report + `
printf '#!/bin/sh\nsed -i s/Helo/Hallo/ greet.go\necho spell Hello otherwise\n' >wrong.sh
chmod +x wrong.sh
mkdir plain
echo '# Plain' >plain/README.md
begin plain Begin
`,
	"docs/pipeline.md": repository + `
mkdir repo
printf 'module example.com/money\n\ngo 1.22\n' >repo/go.mod
printf 'package money\n\n// Cents truncates to cents.\nfunc Cents(f float64) int { return int(f * 100) }\n' >repo/money.go
printf 'package money\n\nimport "testing"\n\nfunc TestWhole(t *testing.T) {\n\tif Cents(2) != 200 {\n\t\tt.Error(Cents(2))\n\t}\n}\n' >repo/money_test.go
begin repo Begin
cat >careless.sh <<'END'
#!/bin/sh
echo "// attempt $(date +%N)" >>money.go
END
cat >reviewer.sh <<'END'
#!/bin/sh
attempt=$(jq .pipeline.attempt issue-state.json)
jq --arg why "attempt $attempt: what of negative amounts?" '.review.verdict = "REJECTED" | .review.feedback_for_writer = $why' issue-state.json >new
mv new issue-state.json
END
chmod +x careless.sh reviewer.sh
`,
	"docs/story.md": repository + `
mkdir widgets
echo '# Widgets' >widgets/README.md
echo 'echo "Hello!"' >widgets/greet.sh
begin widgets Begin
`,
	"docs/task.md": repository + `
mkdir greet
printf 'module example.com/greet\n\ngo 1.22\n' >greet/go.mod
printf 'package greet\n\nfunc Hello(name string) string { return "Hello, " + name }\n' >greet/greet.go
printf 'package greet\n\nimport "testing"\n\nfunc TestHello(t *testing.T) {\n\tif Hello("Ann") != "Hello, Ann" {\n\t\tt.Error(Hello("Ann"))\n\t}\n}\n' >greet/greet_test.go
begin greet greet
cat >plan.md <<'END'
# More greetings

- [x] GREET-0: Say hello
- [ ] GREET-1: Say goodbye
- [ ] GREET-2: Greet everybody (after GREET-1)
END
printf '# Say goodbye\n\nThere is Hello, and there should be Goodbye.\n' >issue.md
cat >developer.sh <<'END'
grep -qi "greet everybody" "$SIGNALBOX_ASSIGNMENT" && name=Everybody || name=Goodbye
printf '\nfunc %s(name string) string { return "%s, " + name }\n' $name $name >>greet.go
END
cat >broken.sh <<'END'
if grep -q 'Leave Hello alone' "$SIGNALBOX_ASSIGNMENT"; then
	git checkout --quiet "$(git rev-list --max-parents=0 HEAD)" -- greet.go
	printf '\nfunc Goodbye(name string) string { return "Goodbye, " + name }\n' >>greet.go
else
	echo "// attempt $(date +%N)" >>greet.go
	sed -i 's/Hello, /Goodbye, /' greet.go
fi
END
`,
}

// unplayed are the pages whose transcripts are not run here, and why.
var unplayed = map[string]string{
	"docs/eval.md": "minutes of a real history: services/signalbox/eval runs both commands on one of its own",
}
