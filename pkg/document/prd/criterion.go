package prd

import (
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Criterion is one acceptance criterion.
type Criterion struct {
	Text string
	// Command is what sh runs at the root of the repository to see whether it
	// holds; empty: it is prose, which cannot be run.
	Command string
}

// Commands lists the commands of all criteria, each once, in their order.
func (s Story) Commands() []string {
	var all []string
	for _, c := range s.Criteria {
		if c.Command != "" && !slices.Contains(all, c.Command) {
			all = append(all, c.Command)
		}
	}
	return all
}

// criteria reads acceptanceCriteria, or steps: texts, or objects with a "command".
func (r *reader) criteria(n node, id string) []Criterion {
	m, ok := n.first("acceptanceCriteria", "acceptance_criteria", "criteria", "steps")
	if !ok || m.value.kind == 0 && m.value.value == nil {
		return nil
	}
	items := m.value.items
	if m.value.kind != '[' {
		items = []node{m.value}
	}
	var all []Criterion
	for _, item := range items {
		text, is := item.value.(string)
		switch {
		case item.kind == '{':
			c := Criterion{Text: r.text(item, id, "description", "text", "title"), Command: strings.TrimSpace(r.text(item, id, "command"))}
			if c.Text == "" {
				c.Text = c.Command
			}
			r.ignore(item)
			all = append(all, c)
		case is:
			all = append(all, Criterion{text, command(text)})
		default:
			r.problem(item.start, id, "an acceptance criterion is a text, or an object with a command")
		}
	}
	return all
}

var (
	// `make test`; Run `make test`; `make test` passes
	spanned = lazyregexp.New("^((?i:run:?\\s+|\\$\\s*)?)`([^`]+)`(\\s+from\\s+\\S+)?$")
	// $ make test; Run: make test
	prompted = lazyregexp.New(`^(?:\$\s+|(?i:run|command):\s*)(.+)$`)
	// … from src/app
	from = lazyregexp.New(`^(.+?)\s+from\s+(\w[\w./-]*?)/?$`)
	// … passes
	verdict = lazyregexp.New(`(?i)\s+(?:passes|pass|succeeds|succeed|works|is green|are green|exits (?:with )?(?:code )?0)$`)
	// the stop of a sentence, not the end of ./...
	stop = lazyregexp.New("([\\w`])[.!]$")
	// ./scripts/check.sh, scripts/check.sh
	script = lazyregexp.New(`^(?:\./\S+|[\w.-]+/[\w./-]+\.(?:sh|py|rb|js|ts|pl))$`)
)

// programs are what a criterion that is a command may begin with, and how such
// a command goes on: most are words of sentences too.
var programs = map[string]*lazyregexp.Regexp{
	"go":    lazyregexp.New(`^(test|build|vet|run|generate|tool|mod)\b`),
	"make":  lazyregexp.New(`^(-C\s+\S+\s+|-\S+\s+)*[\w./-]+(\s+\w+=\S*)*$`),
	"node":  lazyregexp.New(`^(-|\S+\.[cm]?js\b)`),
	"test":  lazyregexp.New(`^(!\s+)?-\w\s+\S+$`),
	"npx":   lazyregexp.New(`^\S`),
	"npm":   scripts,
	"pnpm":  scripts,
	"yarn":  scripts,
	"bun":   scripts,
	"deno":  lazyregexp.New(`^(test|task|run|lint|fmt|check)\b`),
	"cargo": lazyregexp.New(`^(test|build|check|clippy|fmt|run|nextest|bench|doc)\b`),

	"pytest": arguments, "tox": arguments, "ctest": arguments, "tsc": arguments, "eslint": arguments, "jest": arguments,
	"vitest": arguments, "ruff": arguments, "mypy": arguments, "rspec": arguments, "phpunit": arguments, "golangci-lint": arguments,
	"staticcheck": arguments, "shellcheck": arguments, "cmake": arguments,

	"python":  lazyregexp.New(`^(-|\S+\.py\b)`),
	"python3": lazyregexp.New(`^(-|\S+\.py\b)`),
	"mvn":     lazyregexp.New(`^(-\S+\s+)*(test|verify|package|install|clean|compile)\b`),
	"gradle":  lazyregexp.New(`^(-\S+\s+)*(test|build|check|\S*:\S+)`),
	"dotnet":  lazyregexp.New(`^(test|build|run|format)\b`),
	"bazel":   lazyregexp.New(`^(test|build|run)\b`),
	"swift":   lazyregexp.New(`^(test|build)\b`),
	"bundle":  lazyregexp.New(`^exec\b`),
	"rake":    lazyregexp.New(`^[\w:]+$`),
	"grep":    lazyregexp.New(`^(-|['"])`),
	"git":     lazyregexp.New(`^(diff|grep|ls-files|log|status|show)\b`),
	"sh":      lazyregexp.New(`^(-|\S*[/.])`),
	"bash":    lazyregexp.New(`^(-|\S*[/.])`),
}

var (
	scripts   = lazyregexp.New(`^(run|test|exec|ci|install|build|lint|typecheck|check|audit|-)`)
	arguments = lazyregexp.New(`^($|-|\S*[/.]|(run|check|format)\b)`)
)

// command finds the command in a criterion's text. All of it is one, it is in a code span,
// or it follows a prompt. A verdict such as "passes" may follow. Anything else is prose.
func command(text string) string {
	text = stop.ReplaceAllString(strings.TrimSpace(text), "$1")
	text = verdict.ReplaceAllString(text, "")
	if strings.Contains(text, "\n") {
		return ""
	}
	if m := spanned.FindStringSubmatch(text); m != nil && (m[1] != "" || runs(m[2])) {
		return within(m[2] + m[3])
	}
	if m := prompted.FindStringSubmatch(text); m != nil && !strings.Contains(text, "`") {
		return within(m[1])
	}
	if runs(text) && !strings.Contains(text, "`") {
		return within(text)
	}
	return ""
}

// runs reports whether the text is a command and no sentence.
func runs(text string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	like, known := programs[first]
	return script.MatchString(first) || known && like.MatchString(strings.TrimSpace(rest))
}

// within turns "COMMAND from DIR" into what sh understands.
func within(text string) string {
	text = strings.TrimSpace(text)
	m := from.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(path.Clean(m[2]), "..") {
		return text
	}
	return "cd " + path.Clean(m[2]) + " && " + m[1]
}
