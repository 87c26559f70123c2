// Package docs_test checks the documents: links resolve, commands and flags exist,
// examples get the replies they show.
package docs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

const root = ".."

// pages returns the text of every Markdown file of the repository, by path from the
// root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	repo := os.DirFS(root)
	err := fs.WalkDir(repo, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(repo, name)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d pages found", len(found))
	}
	return found
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	fence   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	mark    = regexp.MustCompile(`[^\w\- ]`)
)

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	for _, problem := range deadLinks(pages(t)) {
		t.Error(problem)
	}
}

// deadLinks returns the relative links of the pages that do not resolve.
func deadLinks(all map[string]string) []string {
	var dead []string
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			linked, isPage := all[target]
			if _, err := os.Stat(filepath.Join(root, target)); err != nil && !isPage {
				dead = append(dead, name+": "+m[1]+" leads nowhere")
			} else if isPage && anchor != "" && !anchors(linked)[anchor] {
				dead = append(dead, name+": "+m[1]+": there is no such heading")
			}
		}
	}
	return dead
}

// anchors returns the anchors of a page's headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		found[strings.ReplaceAll(mark.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return found
}

// binary returns the path of a service's binary.
func binary(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(programtest.Services(t), name)
}

// help returns the output of a call with --help.
func help(t *testing.T, binary string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	call := append(slices.Clone(args), "--help")
	if filepath.Base(binary) == "signalbox" { // its help names the first flags only
		call = append([]string{"help", "all"}, args...)
	}
	cmd := exec.CommandContext(t.Context(), binary, call...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if filepath.Base(binary) == "signalbox" { // flags that all commands have are apart
		common, commonErr := exec.CommandContext(t.Context(), binary, "help", "flags").Output()
		out.Write(common)
		err = errors.Join(err, commonErr)
	}
	return out.String(), err
}
