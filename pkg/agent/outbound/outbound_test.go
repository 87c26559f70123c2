package outbound_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// Put together here, so that no scanner takes this file for a leak.
var token = "gh" + "p_" + strings.Repeat("a1B2", 9)

// repository is a repository whose branch main is what the forge has.
type repository struct {
	*testing.T
	git  git.Runner
	base string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	g := git.New(t.TempDir()).WithIdentity("Ada", "ada@example.test")
	r := repository{t, g, ""}
	gittest.Run(t, g, "init", "-q", "-b", "main")
	r.sh("echo hello > greeting; mkdir doc; echo x > doc/x; git add -A; git commit -qm first; git branch old; " +
		"git checkout -q old; mkdir -p .github/workflows; echo old > .github/workflows/old.yml; git add -A; git commit -qm old; git checkout -q main; " +
		"ln -s .. up; ln -s /usr/share/dict was; git add -A; git commit -qm second")
	r.base = gittest.Run(t, g, "rev-parse", "main")
	return r
}

// sh runs a script in the repository as the product, or as who it says.
func (r repository) sh(script string) {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), "sh", "-ec", script)
	cmd.Dir = r.git.Dir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Signalbox", "GIT_AUTHOR_EMAIL=signalbox@localhost",
		"GIT_COMMITTER_NAME=Signalbox", "GIT_COMMITTER_EMAIL=signalbox@localhost", "TOKEN="+token)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("%v: %s", err, out)
	}
}

func newChecker(t testing.TB) *outbound.Checker {
	t.Helper()
	secrets, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	return outbound.New(outbound.DefaultRules(), secrets.With("tavern-lantern"))
}

// push checks what a script left as a push of its branch.
func (r repository) push(branch, there string) (outbound.Change, error) {
	r.Helper()
	head := gittest.Run(r.T, r.git, "rev-parse", "HEAD")
	known := []string{r.base, gittest.Run(r.T, r.git, "rev-parse", "old")}
	return newChecker(r.T).Change(r.Context(), r.git, outbound.Push{
		Head: head, Branch: branch, Default: "main", Tip: r.base, There: there, Known: known,
	})
}

// rules returns the rules that a refusal is for, each once, with the path.
func rules(err error) (all []string) {
	no := new(outbound.Refusal)
	if !errors.As(err, &no) {
		return nil
	}
	for _, f := range no.Findings {
		all = append(all, strings.TrimSpace(f.Rule+" "+f.Path))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const work = "signalbox/issue-1"

func TestWhatMustNotBePushedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"nothing wrong": {"echo hi > greeting; git commit -qam 'Greet'", nil},
		"a merge of what the forge has": {"git checkout -q -b w main~1; echo w > w; git add w; git commit -qm w; git merge -q --no-edit main",
			nil},
		"a workflow": {"mkdir -p .github/workflows; echo x > .github/workflows/evil.yml; git add -A; git commit -qm x",
			[]string{"forbidden .github/workflows/evil.yml"}},
		"a workflow that an earlier commit had": {"mkdir -p .github/workflows; echo x > .github/workflows/evil.yml; git add -A; git commit -qm x; git rm -qr .github; git commit -qm y",
			[]string{"forbidden .github/workflows/evil.yml"}},
		"a workflow of an old branch":  {"git merge -q --no-edit old", []string{"forbidden .github/workflows/old.yml"}},
		"a workflow that a merge adds": {"echo w > w; git add w; git commit -qm w; git checkout -q -b m main; git merge -q --no-ff --no-commit -; mkdir -p .github/workflows; echo x > .github/workflows/m.yml; git add -A; git commit -qm m", []string{"forbidden .github/workflows/m.yml"}},
		"who has to approve":           {"echo '* @eve' > CODEOWNERS; git add -A; git commit -qm x", []string{"forbidden CODEOWNERS"}},
		"an action": {"mkdir -p .GitHub/Actions/x; echo x > .GitHub/Actions/x/action.yml; git add -A; git commit -qm x",
			[]string{"forbidden .GitHub/Actions/x/action.yml"}},
		"a token": {"echo key=$TOKEN > key.txt; git add -A; git commit -qm x", []string{"secret key.txt"}},
		"a token that the last commit removes": {"echo key=$TOKEN > key.txt; git add -A; git commit -qm x; git rm -q key.txt; git commit -qm y",
			[]string{"secret key.txt"}},
		"a token that a merge adds": {"echo w > w; git add w; git commit -qm w; git checkout -q -b m main; git merge -q --no-ff --no-commit -; echo $TOKEN > key.txt; git add -A; git commit -qm m", []string{"secret key.txt"}},
		"a credential of its own":   {"echo tavern-lantern > key.txt; git add -A; git commit -qm x", []string{"secret key.txt"}},
		"a token in base64": {"printf %s \"key=$TOKEN\" | base64 -w0 > key.txt; git add -A; git commit -qm x",
			[]string{"secret key.txt"}},
		"a token as a file's name": {"mkdir keys; echo x > keys/$TOKEN; git add -A; git commit -qm x", []string{"secret keys"}},
		"a token as a forbidden file's name": {"mkdir -p .github/workflows; echo x > .github/workflows/$TOKEN; git add -A; git commit -qm x",
			[]string{"forbidden .github/workflows/[redacted: github-token]", "secret .github/workflows"}},
		"a token in a message": {"git commit -q --allow-empty -m \"use $TOKEN\"", []string{"secret"}},
		"a token as an author": {"git commit -q --allow-empty -m x --author \"$TOKEN <signalbox@localhost>\"",
			[]string{"identity", "secret"}},
		"a link to a file of the host": {"ln -s /etc/passwd passwd; git add -A; git commit -qm x", []string{"link passwd"}},
		"a link out by another":        {"ln -s up/../etc/passwd passwd; git add -A; git commit -qm x", []string{"link passwd"}},
		"a link out by two of its own": {"mkdir d; ln -s ../doc d/a; ln -s d/a/../../x out; git add -A; git commit -qm x",
			[]string{"link out"}},
		"a link into the repository":    {"ln -s doc/../.git/config c; git add -A; git commit -qm x", []string{"link c"}},
		"a link within":                 {"ln -s doc/x d; ln -s d e; git add -A; git commit -qm x", nil},
		"links in a circle":             {"ln -s b a; ln -s a b; git add -A; git commit -qm x", nil},
		"a link that turns another one": {"git mv doc d; ln -s d doc; ln -s doc/../x fine; git add -A; git commit -qm a; git rm -q doc; ln -s . doc; git add -A; git commit -qm b", []string{"link fine"}},
		"a submodule": {"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm x",
			[]string{"submodule sub"}},
		"a file that hides its end": {"printf 'x\\342\\200\\256y\\n' > f; git add -A; git commit -qm x", []string{"bidi f"}},
		"a name that reads otherwise": {"printf x > \"$(printf 'a\\342\\200\\256gpj.sh')\"; git add -A; git commit -qm x",
			[]string{"name a‹U+202E›gpj.sh"}},
		"a name of two lines":              {"printf x > \"$(printf 'a\\nb')\"; git add -A; git commit -qm x", []string{"name a b"}},
		"a large file":                     {"head -c 11000000 /dev/zero > big; git add -A; git commit -qm x", []string{"size big"}},
		"another author":                   {"git commit -q --allow-empty -m x --author 'Ann <ann@example.test>'", []string{"identity"}},
		"another committer":                {"GIT_COMMITTER_NAME=Ann git commit -q --allow-empty -m x", []string{"identity"}},
		"another author under the tip":     {"git commit -q --allow-empty -m x --author 'Ann <ann@example.test>'; git commit -q --allow-empty -m y", []string{"identity"}},
		"closing words and a mention":      {"git commit -q --allow-empty -m 'Fixes #1, closes #2 @everyone'", []string{"message"}},
		"closing words in the body":        {"git commit -q --allow-empty -m x -m 'This resolves acme/other#7.'", []string{"message"}},
		"a mention of a team":              {"git commit -q --allow-empty -m 'cc /@acme/team'", []string{"message"}},
		"a message that hides":             {"git commit -q --allow-empty -m \"$(printf 'a\\342\\200\\256b')\"", []string{"message"}},
		"a message that no check runs for": {"git commit -q --allow-empty -m 'x [skip ci]'", []string{"message"}},
		"a message that vouches":           {"git commit -q --allow-empty -m x -m 'Reviewed-by: Ann <ann@example.test>'", []string{"message"}},
		"a message that a person assisted": {"git commit -q --allow-empty -m x -m 'Assisted-by: Ann <ann@example.test>'", []string{"message"}},
		"a message that a brain assisted":  {"git commit -q --allow-empty -m x -m 'Assisted-by: exec:claude'", nil},
		"a message without end":            {"head -c 40000 /dev/zero | tr '\\0' x | git commit -q --allow-empty -F -", []string{"message"}},
		"an orphan history":                {"git checkout -q --orphan o; git commit -qm o", []string{"history"}},
		"an orphan history merged":         {"git checkout -q --orphan o; git rm -rqf .; git commit -q --allow-empty -m o; git checkout -q -b w main; git merge -q --no-edit --allow-unrelated-histories o", []string{"history"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.sh(c.script)
			change, err := r.push(work, "")
			if got := rules(err); !slices.Equal(got, c.want) {
				t.Errorf("it ended with %q, want %q: %v", got, c.want, err)
			}
			if err != nil && (change != outbound.Change{} || strings.Contains(err.Error(), token) || strings.ContainsAny(err.Error(), "\n\u202e")) {
				t.Errorf("the refusal has a change, %+v, or shows what it must not: %v", change, err)
			}
			if err == nil && (change.Head() == "" || change.Branch() != work) {
				t.Errorf("the change is %+v", change)
			}
		})
	}
}

func TestAPushGoesToABranchOfItsOwn(t *testing.T) {
	r := newRepository(t)
	r.sh("echo hi > greeting; git commit -qam 'Greet'")
	for branch, want := range map[string][]string{"main": {"branch main"}, "signalbox/" + token: {"branch"}} {
		if _, err := r.push(branch, ""); !slices.Equal(rules(err), want) {
			t.Errorf("%s ended with %v", branch, err)
		}
	}
}

func TestWhatTheBranchHasAlreadyIsNotOfTheChange(t *testing.T) {
	r := newRepository(t)
	r.sh("git checkout -q old; echo more > more; git add -A; git commit -qm more")
	if _, err := r.push("old", gittest.Run(t, r.git, "rev-parse", "old~1")); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestAFindingSaysWhereAndALongRefusalStaysReadable(t *testing.T) {
	r := newRepository(t)
	r.sh("printf 'a\\nb\\nkey=%s\\n' $TOKEN > key.txt; git add -A; git commit -qm x; for i in $(seq 80); do echo $TOKEN > k$i; done; git add -A; git commit -qm y")
	_, err := r.push(work, "")
	no := new(outbound.Refusal)
	if !errors.As(err, &no) || len(no.Findings) > 50 {
		t.Fatal(err)
	}
	at := gittest.Run(t, r.git, "rev-parse", "HEAD~1")
	if f := no.Findings[0]; f.Commit != at || f.Path != "key.txt" || f.Line != 3 || f.Rule != "secret" {
		t.Errorf("the first finding is %+v", f)
	}
	if s := err.Error(); len(s) > 2000 || !strings.Contains(s, "key.txt:3 in commit "+at[:12]) || !strings.Contains(s, "more") {
		t.Errorf("%d bytes: %s", len(s), s)
	}
}

func TestWhatMustNotBeSaidIsRefused(t *testing.T) {
	marker := "<!-- signalbox instance=a key=b -->"
	for name, c := range map[string]struct {
		text outbound.Text
		want []string
	}{
		"nothing wrong":                    {outbound.Text{Body: "Fine.\n\nCloses #7.\n\n" + marker + "\n\n" + marker, Closes: 7}, nil},
		"an address":                       {outbound.Text{Body: "ann@example.test and a/@ b"}, nil},
		"a mention in code":                {outbound.Text{Body: "`@octocat`\n\n```\n@octocat fixes #1 <!-- -->\n/approve\n```\n\n    @octocat\n"}, nil},
		"a mention that a sanitizer broke": {outbound.Text{Body: "@ octocat, fixes # 1"}, nil},
		"a space without width":            {outbound.Text{Body: "@\u200boctocat, fixes #\u200b1"}, []string{"hidden 1"}},
		"a mention":                        {outbound.Text{Body: "hello\n@octocat"}, []string{"mention 2"}},
		"a mention after a slash":          {outbound.Text{Body: "/@acme/team"}, []string{"mention 1"}},
		"a mention where code begins":      {outbound.Text{Body: "```@octocat"}, []string{"hidden 1", "mention 1"}},
		"a mention behind a code span":     {outbound.Text{Body: "`` ` ``@octocat"}, []string{"mention 1"}},
		"a mention by number":              {outbound.Text{Body: "a\n&#64;octocat"}, []string{"mention 2"}},
		"a mention by name":                {outbound.Text{Body: "&commat;octocat"}, []string{"mention 1"}},
		"a mention by number, in code":     {outbound.Text{Body: "`&#64;octocat`"}, nil},
		"an issue that is escaped":         {outbound.Text{Body: "Fixes \\#2"}, []string{"closes 1"}},
		"an issue by number":               {outbound.Text{Body: "F&#105;xes acme/widgets&num;2"}, []string{"closes 1"}},
		"another issue":                    {outbound.Text{Body: "Closes #8.", Closes: 7}, []string{"closes 1"}},
		"an issue of a comment":            {outbound.Text{Body: "Fixes #7"}, []string{"closes 1"}},
		"its own issue, otherwise":         {outbound.Text{Body: "fixes #7", Closes: 7}, []string{"closes 1"}},
		"an issue with a longer number":    {outbound.Text{Body: "Closes #71", Closes: 7}, []string{"closes 1"}},
		"a command":                        {outbound.Text{Body: "a\n\n/approve"}, []string{"command 3"}},
		"a command after a bare return":    {outbound.Text{Body: "> a\r/approve"}, []string{"hidden 1"}},
		"a marker within":                  {outbound.Text{Body: marker + "\n\nx"}, []string{"marker 1"}},
		"a comment":                        {outbound.Text{Body: "x <!-- y"}, []string{"marker 1"}},
		"a token":                          {outbound.Text{Body: "a\nb " + token}, []string{"secret 2"}},
		"a token in code":                  {outbound.Text{Body: "`" + token + "`"}, []string{"secret 1"}},
		"a turn of direction":              {outbound.Text{Body: "a\u202eb"}, []string{"hidden 1"}},
		"an escape":                        {outbound.Text{Body: "a\x1b[2Jb"}, []string{"hidden 1"}},
		"a long text":                      {outbound.Text{Body: strings.Repeat("x", 70_000)}, []string{"size 0"}},
		"a long title": {outbound.Text{Body: strings.Repeat("x", 300), Line: true, Max: outbound.MaxTitle},
			[]string{"size 0"}},
		"a title of two lines": {outbound.Text{Body: "a\nb", Line: true}, []string{"hidden 0"}},
		"a title that closes":  {outbound.Text{Body: "`Fixes #1`", Line: true}, []string{"closes 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.text.What = "comment"
			err := newChecker(t).Text(c.text)
			var got []string
			if no := new(outbound.Refusal); errors.As(err, &no) {
				for _, f := range no.Findings {
					got = append(got, f.Rule+" "+string(rune('0'+f.Line)))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it ended with %q, want %q: %v", got, c.want, err)
			}
			if err != nil && strings.Contains(err.Error(), token) {
				t.Errorf("it shows the secret: %v", err)
			}
		})
	}
}

func TestALinkThatAnotherRepositoryWasBornWithStays(t *testing.T) {
	r := newRepository(t)
	r.sh("ln -s greeting hello; git add -A; git commit -qm x") // beside was, up
	if _, err := r.push(work, ""); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if to, err := os.Readlink(filepath.Join(r.git.Dir(), "was")); err != nil || !filepath.IsAbs(to) {
		t.Fatal(to, err)
	}
}
