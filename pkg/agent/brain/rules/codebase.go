package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git"
)

// languages are what files by these endings are written in.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript",
	".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++",
	".hpp": "C++",
	".cs":  "C#", ".swift": "Swift", ".sh": "Shell", ".sql": "SQL", ".html": "HTML", ".css": "CSS", ".ex": "Elixir", ".scala": "Scala",
}

// maxListing is how many bytes of file names are read.
const maxListing = 4 << 20

// codebase returns facts about the code, as seen from outside, for those who work on it.
// That is its languages, how it is tested, and where things are.
func codebase(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	r := instance.Result{Status: instance.Success, ConfidenceScore: reliance}
	if a.Dir == "" {
		r.Summary = "There is no code to review."
		return declared(r), nil
	}
	out, err := git.New(a.Dir).Output(ctx, maxListing, "ls-files", "-z")
	if err != nil {
		return brain.Outcome{}, fmt.Errorf("list the files: %w", err)
	}
	in, places, tests, files := map[string]int{}, map[string]int{}, 0, 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		files++
		if l, ok := languages[strings.ToLower(path.Ext(name))]; ok {
			in[l]++
		}
		if (file{name: name}).isTest() {
			tests++
		}
		dir, _, below := strings.Cut(name, "/")
		if below {
			dir += "/"
		}
		places[dir]++
	}
	r.Summary = fmt.Sprintf("Files: %d, tests among them: %d. Languages: %s.", files, tests, cmp.Or(counted(in), "none known"))
	if p, err := plan(a.Dir); err == nil {
		r.Summary += " Tests are run by " + code(p.Command()) + "."
	} else {
		r.Summary += " There is no way to test it that can be seen: " + Sentence(err.Error())
	}
	r.Summary += "\nLayout: " + cmp.Or(counted(places), "empty") + "."
	return declared(r), nil
}

// counted lists names with their counts, the most frequent first.
func counted(n map[string]int) string {
	all := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b)) })
	more := ""
	if len(all) > maxShown {
		all, more = all[:maxShown], fmt.Sprintf(" and %d more", len(all)-maxShown)
	}
	for i, name := range all {
		all[i] = fmt.Sprintf("%s (%d)", name, n[name])
	}
	return strings.Join(all, ", ") + more
}
