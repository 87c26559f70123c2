package workspace_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
)

// Put together here, so that no scanner takes this file for a leak.
var (
	githubToken = "gh" + "p_" + strings.Repeat("a1B2", 9)
	awsKey      = "AK" + "IA" + "QWERTYUIOPASDFGH"
	privateKey  = "-----BEGIN " + "RSA PRIVATE KEY-----"
)

func TestCheckFindsWhatMustNotLeave(t *testing.T) {
	parent := newEnv(t)
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"nothing":   {"echo fine > fine.go", nil},
		"untouched": {"true", nil},
		"a workflow": {"mkdir -p .github/workflows; echo x > .github/workflows/ci.yml",
			[]string{"forbidden .github/workflows/ci.yml 0"}},
		"a workflow in other letters": {"mkdir -p .GitHub/Workflows; echo x > .GitHub/Workflows/ci.yml",
			[]string{"forbidden .GitHub/Workflows/ci.yml 0"}},
		"a workflow taken back later":    {"mkdir -p .github/workflows; echo x > .github/workflows/ci.yml; git add -A; git commit -qm a; git rm -q .github/workflows/ci.yml; git commit -qm b", []string{"forbidden .github/workflows/ci.yml 0"}},
		"a token":                        {"printf 'a\nb\nkey = \"" + githubToken + "\"\n' > conf.go", []string{"secret conf.go 3"}},
		"a token at the end of the file": {"printf '\nx " + githubToken + "' >> main.go", []string{"secret main.go 5"}},
		"a key in a file called binary":  {"echo '* binary' > .gitattributes; echo '" + privateKey + "' > key", []string{"secret key 1"}},
		"a key committed and taken back": {"echo '" + awsKey + "' > k; git add k; git commit -qm a; echo none > k", []string{"secret k 1"}},
		"a key behind an example":        {"echo 'AK" + "IAIOSFODNN7EXAMPLE " + awsKey + "' > k", []string{"secret k 1"}},
		"a token split over two lines": {"printf 'x = \"" + githubToken[:9] + "\" +\n  \"" + githubToken[9:] + "\"\n' > s.go",
			[]string{"secret s.go 1"}},
		"a token in a message":          {"echo x > x; git add x; git commit -qm 'use " + githubToken + "'", []string{"secret commit 0"}},
		"a token in a name":             {"mkdir keys; echo x > keys/" + githubToken, []string{"secret keys 0"}},
		"a key that only resembles one": {"echo 'AK" + "IAIOSFODNN7EXAMPLE' > k; echo sk-ant-hill > l", nil},
		"a secret in a very long line": {"{ yes '' | head -n 3; yes x | head -c 300000 | tr -d '\\n'; printf '" + awsKey +
			"'; yes ' ' | head -c 300000 | tr -d '\\n'; printf '\n'; } > long.js", nil},
		"a secret apart in a long line": {"{ yes '' | head -n 3; yes ' ' | head -c 300000 | tr -d '\\n'; printf '" + awsKey +
			"'; yes ' ' | head -c 300000 | tr -d '\\n'; printf '\n'; } > long.js", []string{"secret long.js 4"}},
		"a link out": {"ln -s ../../x doc/out; ln -s /etc/passwd abs; ln -s ../main.go doc/fine; ln -s .git/config sly",
			nil}, // they are left out
		"a link out in the place of a file": {"rm main.go; ln -s /etc/passwd main.go", []string{"link main.go 0"}},
		"a large file":                      {"head -c 2000 /dev/zero > big; head -c 1000 /dev/zero > fits", []string{"size big 0"}},
		"a repository within": {"git init -q sub; git -C sub -c user.name=a -c user.email=b commit -q --allow-empty -m x",
			nil}, // it is left out
	} {
		t.Run(name, func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			w.program(tree, c.script)
			rules := outbound.DefaultRules()
			rules.MaxFile = 1000
			if strings.Contains(name, "long line") {
				rules.MaxFile = 0
			}
			found, err := tree.Check(t.Context(), rules)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, v.Rule+" "+cmp.Or(v.Path, "commit")+" "+string(rune('0'+v.Line)))
				if s := v.String(); strings.Contains(s, githubToken) || strings.Contains(s, awsKey) {
					t.Errorf("shows the secret: %s", s)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestSecretsWhereTheyAreAllowedAndWhereTheyWereBefore(t *testing.T) {
	w := newEnv(t)
	tree := w.tree()
	w.program(tree, "mkdir testdata; echo '"+privateKey+"' > testdata/key.pem")
	rules := outbound.DefaultRules()
	rules.SecretsAllowed = []string{"**/testdata/**"}
	if found, err := tree.Check(t.Context(), rules); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
	w.commit(tree, "Key")
	w.program(tree, "echo more >> testdata/key.pem; sed -i 1d testdata/key.pem")
	if found, err := tree.Check(t.Context(), outbound.DefaultRules()); err != nil || len(found) != 0 {
		t.Errorf("a removed secret: %v, %v", found, err)
	}
}
