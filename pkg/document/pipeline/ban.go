package pipeline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// tests are files that hold tests, by their names.
var tests = lazyregexp.New(`(^|/)(tests?|spec|__tests__)/|(^|/)test_[^/]*$|_test\.[^/]*$|[._-](test|spec)\.[^/]*$|Tests?\.[^/]*$`)

// isTest reports whether a change leaves a file that holds tests.
func isTest(f work.FileChange) bool { return f.Status != "D" && tests.MatchString(f.Path) }

// Broken returns the analysis' must_not_do that a change does not respect, as far as that
// can be seen. That is where one says of paths or globs that they must not be touched,
// deleted or added to. All else is the reviewer's to judge.
func Broken(a work.Assignment, files []work.FileChange) []string {
	if sectionOf(a.Role) != "writer" {
		return nil
	}
	var found []string
	for _, said := range OfAssignment(a).Analysis.MustNotDo {
		for _, f := range files {
			if Forbids(said, f) {
				found = append(found, fmt.Sprintf("%s: the analysis forbids “%s”", f.Path, strings.TrimSpace(said)))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Forbids reports whether a sentence says that a file must not be touched so.
func Forbids(said string, file work.FileChange) bool {
	return slices.ContainsFunc(bans(said), func(b ban) bool { return b.forbids(file) })
}

// ban is a path or glob that must not be changed so.
type ban struct {
	glob     *regexp.Regexp
	statuses string // of work.FileChange
}

func (b ban) forbids(f work.FileChange) bool {
	return strings.Contains(b.statuses, f.Status) && b.glob.MatchString(f.Path)
}

const (
	// bare are names of files that have no ending, or any.
	bare = `(?:readme|licen[cs]e|changelog|contributing|notice|codeowners|makefile|dockerfile|gemfile|rakefile|procfile|jenkinsfile)`
	// place is a path, a glob, or the name of a file.
	place = "`[^`]+`" + `|"[^"]+"|[\w.@*?\-\[\]{}]*(?:/[\w.@*?\-\[\]{}]*)+|[\w@*?\-]+\.[A-Za-z]\w{0,9}\b|\*\.\w+|` + bare + `\b`
	// filler may stand before the first.
	filler = `(?:(?:the|any|anything|file|files|folder|folders|directory|directories|module|code|content|contents|existing|to|in|under|inside|within|below|of|from|new)\s+)*`
	places = `((?:` + place + `)(?:(?:\s*,\s*(?:and |or |nor )?|\s+(?:and|or|nor)\s+)(?:the )?(?:` + place + `))*)`
	never  = `(?:don.?t|do not|must not|mustn.?t|may not|shall not|should not|shouldn.?t|never|avoid|without|no|not)\s+`
)

// forms are the ways to say it, each with what of a file it forbids.
var forms = []struct {
	said     *lazyregexp.Regexp
	statuses string
}{
	{lazyregexp.New(`(?i)` + never +
		`(?:modify|modifying|touch|touching|change|changing|changes|edit|editing|edits|alter|altering|rewrite|rewriting|refactor|refactoring|update|updating|format|reformat)\s+` + filler + places), "AMDT"},
	{lazyregexp.New(`(?i)` + never + `(?:delete|deleting|remove|removing|drop|dropping|rename|renaming|move|moving)\s+` + filler +
		places), "D"},
	{lazyregexp.New(`(?i)` + never + `(?:add|adding|create|creating|put|putting)\s+` + filler + places), "A"},
	{lazyregexp.New(`(?i)\b(?:leave|keep)\s+` + filler + places +
		`\s+(?:alone|unchanged|untouched|unmodified|as (?:it is|they are|is))`), "AMDT"},
}

// one is a single place within places.
var (
	one     = lazyregexp.New(`(?i)` + place)
	endless = lazyregexp.New(`(?i)^` + bare + `$`)
)

// bans reads a sentence. Only what it says directly of a path counts: "do not
// change the format of a.json" is about the format.
func bans(said string) []ban {
	var all []ban
	for _, form := range forms {
		for _, m := range form.said.FindAllStringSubmatch(said, -1) {
			for _, p := range one.FindAllString(m[1], -1) {
				if glob := compile(p); glob != nil {
					all = append(all, ban{glob, form.statuses})
				}
			}
		}
	}
	return all
}

// compile makes a place a pattern over paths. A directory stands for all in it, a name
// without a slash for every file of that name. nil: it is no place.
func compile(p string) *regexp.Regexp {
	p = strings.Trim(strings.TrimRight(p, ".,;:"), "`\"")
	dir := strings.HasSuffix(p, "/")
	p = path.Clean(strings.TrimPrefix(p, "./"))
	if p == "." || strings.HasPrefix(p, "../") || strings.Contains(p, "://") || strings.ContainsAny(p, " ()") {
		return nil
	}
	known := endless.MatchString(p)
	if !strings.ContainsAny(p, "/*.") && !dir && !known {
		return nil // a name of something in the code
	}
	var re strings.Builder
	re.WriteString("^")
	if !strings.Contains(p, "/") && !dir {
		re.WriteString("(.*/)?")
	}
	p = strings.TrimPrefix(p, "/")
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case strings.HasPrefix(p[i:], "**/"):
			re.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			re.WriteString(".*")
			i++
		case c == '*':
			re.WriteString("[^/]*")
		case c == '?':
			re.WriteString("[^/]")
		default:
			re.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if known {
		re.WriteString(`(\.\w+)?`)
	}
	re.WriteString("(/.*)?$")
	compiled, err := regexp.Compile(re.String())
	if err != nil {
		return nil
	}
	return compiled
}
