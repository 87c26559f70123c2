package repoconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/base/yamltext"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

// Place is a line of a file; lines count from 1.
type Place = workflow.Position

// Parse reads a file; name only serves to say where. The error joins a workflow.Problem
// for everything that is wrong.
func Parse(name string, src []byte) (Config, error) {
	c, err := parse(name, src)
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

// Read is Parse and Check in one. It names everything that is wrong at once, in the order of
// the lines.
func Read(name string, src []byte, o Operator) (Config, error) {
	c, err := parse(name, src)
	all := append(workflow.Problems(err), workflow.Problems(c.Check(o))...)
	if len(all) == 0 {
		return c, nil
	}
	slices.SortStableFunc(all, func(a, b workflow.Problem) int { return a.At.Line - b.At.Line })
	errs := make([]error, len(all))
	for i, p := range all {
		errs[i] = p
	}
	return Config{}, errors.Join(errs...)
}

// parse is Parse, and returns what it has read of a wrong file, too.
func parse(name string, src []byte) (Config, error) {
	r := &reader{Reader: yamlfile.Reader{File: name}, config: Config{Hash: Hash(src), places: map[string]Place{}}}
	if len(src) > MaxBytes {
		r.Add(r.Top(), "%d bytes, want at most %d", len(src), MaxBytes)
		return Config{}, r.Err()
	}
	if line := second(src); line > 0 {
		r.Add(Place{File: name, Line: line}, "a second YAML document, want one")
		return Config{}, r.Err()
	}
	var doc yamlfile.Document
	err := yamltext.Unmarshal(src, &doc)
	switch {
	case errors.Is(err, io.EOF):
		return r.config, nil
	case err != nil:
		r.Syntax(err)
	case doc.Body != nil:
		r.object(doc.Body, r.top())
	}
	return r.config, r.Err()
}

// second returns the line where a second document begins, 0 if there is none: the parser
// passes over it.
func second(src []byte) (line int) {
	begun := false
	for text := range bytes.Lines(src) {
		line++
		text = bytes.TrimRight(text, " \t\r\n")
		divides := bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("..."))
		switch {
		case begun && divides:
			return line
		case len(text) > 0 && text[0] != '#' && !divides:
			begun = true
		}
	}
	return 0
}

// top returns the keys of a file.
func (r *reader) top() map[string]take {
	c := &r.config
	return map[string]take{
		"lifecycle": r.name(&c.Lifecycle),
		"label":     r.text(&c.Label),
		"policy":    r.policy,
		"budget":    r.budget,
		"commands":  r.commands,
		"protect":   r.list(r.protected),
		"brains":    r.brains,
		"limits":    r.list(r.limit),
		"labels":    r.labels,
		"notify":    r.notify,
	}
}

// elsewhere names the place of a key that people may look for in this file.
func elsewhere(key string) string {
	switch key {
	case "test", "setup", "lint", "type_check":
		return "; commands of tests and setup are in .signalbox.yaml at the root"
	case "prompts":
		return "; prompts are files in " + Dir + "/prompts"
	}
	return ""
}

// policy reads values by name. Whether there is such a policy is for Check.
func (r *reader) policy(n ast.Node) {
	r.Entries(n, func(key string, at Place, value ast.Node) {
		text, ok := scalar(value)
		switch {
		case !ok:
			r.Want(value, "true, false, a number or a text")
		case key == usd || key == tokens:
			r.Add(at, "%s is in budget: write budget: {%s: %s}", key, strings.TrimPrefix(key, "budget_"), text)
		default:
			r.set(key, at, text)
		}
	})
}

// usd and tokens are the policies that a budget sets.
const usd, tokens = "budget_usd", "budget_tokens"

// The amounts of budgets, for people.
const aboveZero, wholeAboveZero, span = "dollars above zero", "a whole number above zero", "a time above zero, such as 8h or 90m"

func (r *reader) budget(n ast.Node) {
	policy := func(key string, whole bool) take {
		return func(n ast.Node) {
			if text, ok := r.amount(n, whole); ok {
				r.set(key, r.At(n), text)
			}
		}
	}
	r.object(n, map[string]take{"usd": policy(usd, false), "tokens": policy(tokens, true), "day": r.list(r.day)})
}

// amount reads a number above zero.
func (r *reader) amount(n ast.Node, whole bool) (text string, ok bool) {
	text, _ = scalar(n)
	v, err := strconv.ParseFloat(text, 64)
	_, number := n.(ast.ScalarNode)
	if !number || isText(n) || err != nil || !(v > 0) || v > 1e15 || whole && v != math.Trunc(v) {
		r.Want(n, map[bool]string{false: aboveZero, true: wholeAboveZero}[whole])
		return "", false
	}
	if whole {
		text = strconv.FormatInt(int64(v), 10)
	}
	return text, true
}

// day reads a budget of a day.
func (r *reader) day(n ast.Node) {
	var b instance.DayBudget
	before, given := r.Problems(), 0
	number := func(put func(text string), whole bool) take {
		return func(n ast.Node) {
			if text, ok := r.amount(n, whole); ok {
				put(text)
				given++
			}
		}
	}
	r.object(n, map[string]take{
		"role":   r.name(&b.Role),
		"usd":    number(func(text string) { b.USD, _ = strconv.ParseFloat(text, 64) }, false),
		"tokens": number(func(text string) { b.Tokens, _ = strconv.ParseInt(text, 10, 64) }, true),
		"time": func(n ast.Node) {
			text, _ := scalar(n)
			d, err := time.ParseDuration(text)
			if err != nil || d < time.Second {
				r.Want(n, span)
				return
			}
			b.WallMS = d.Milliseconds()
			given++
		},
	})
	if r.Problems() > before {
		return
	}
	if given != 1 {
		r.Add(r.At(n), "a budget of a day has one of usd, tokens and time")
		return
	}
	r.config.places[fmt.Sprintf("budget.day.%d", len(r.config.Days))] = r.At(n)
	r.config.Days = append(r.config.Days, b)
}

func (r *reader) set(policy string, at Place, value string) {
	if r.config.Policy == nil {
		r.config.Policy = map[string]string{}
	}
	r.config.Policy[policy], r.config.places["policy."+policy] = value, at
}

// commands reads the permission that each command takes.
func (r *reader) commands(n ast.Node) {
	r.Entries(n, func(key string, at Place, value ast.Node) {
		var level string
		r.text(&level)(value)
		if level == "" {
			return
		}
		levels := Levels()[1:]
		if !slices.Contains(levels, level) {
			r.Unknown(r.At(value), "permission", level, levels)
			return
		}
		if r.config.Commands == nil {
			r.config.Commands = Commands{}
		}
		r.config.Commands[key], r.config.places["commands."+key] = level, at
	})
}

// labels reads the labels that triage may set.
func (r *reader) labels(n ast.Node) {
	switch n.(type) {
	case *ast.SequenceNode, *ast.StringNode:
		r.Want(n, "kinds of issues, each with its label, such as bug: defect; the label that has an issue taken up is label")
		return
	}
	r.Entries(n, func(key string, at Place, value ast.Node) {
		var label string
		r.text(&label)(value)
		switch {
		case label == "":
		case !slices.Contains(triage.Keys(), key):
			r.Unknown(at, "kind of issue", key, triage.Keys())
		case strings.HasPrefix(strings.ToLower(label), ownLabels):
			r.Add(at, "labels that begin with %s show how issues stand, and are set by Signalbox alone", ownLabels)
		default:
			if r.config.Labels == nil {
				r.config.Labels = map[string]string{}
			}
			r.config.Labels[key], r.config.places["labels."+key] = label, at
		}
	})
}

// notify reads the events that each target of notifications gets. Addresses are the operator's alone.
func (r *reader) notify(n ast.Node) {
	if _, ok := n.(*ast.SequenceNode); ok {
		r.Want(n, "names of targets that the operator has defined, each with its events, such as team: [waits, failed]")
		return
	}
	r.Entries(n, func(key string, at Place, value ast.Node) {
		var events []string
		r.list(func(n ast.Node) {
			var event string
			r.text(&event)(n)
			switch {
			case event == "":
			case !slices.Contains(Events(), event):
				r.Unknown(r.At(n), "event", event, Events())
			case !slices.Contains(events, event):
				events = append(events, event)
			}
		})(value)
		if r.config.Notify == nil {
			r.config.Notify = map[string]string{}
		}
		if r.config.Notify[key], r.config.places["notify."+key] = strings.Join(events, ","), at; len(r.config.Notify) > maxTargets {
			r.Add(at, "more than %d targets of notifications", maxTargets)
		}
	})
}

// maxTargets is how many targets of notifications a file may name.
const maxTargets = 20

// ownLabels begins the labels that show how an issue stands.
const ownLabels = "signalbox:"

// protected reads a path that agents may not change.
func (r *reader) protected(n ast.Node) {
	var pattern string
	r.text(&pattern)(n)
	switch {
	case pattern == "":
	case strings.HasPrefix(pattern, "!"), strings.HasPrefix(pattern, ":"), strings.HasPrefix(pattern, "/"), strings.Contains(pattern, ".."):
		r.Add(r.At(n), "a protected path is a glob from the root of the repository, such as infra/**, without ! : / in front")
	default:
		r.config.Protect = append(r.config.Protect, pattern)
	}
}

// brains reads the patterns of brains that may work. Keys are roles in a mistake that people make.
func (r *reader) brains(n ast.Node) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		r.Add(r.At(n), "brains is a list of what may work here, such as [\"exec:claude*\", rules], and has no roles; "+
			"the operator gives a role its brain by --brain ROLE=BRAIN")
	default:
		r.list(r.brain)(n)
	}
}

// brain reads a pattern of brains that may work.
func (r *reader) brain(n ast.Node) {
	var pattern string
	r.text(&pattern)(n)
	if pattern == "" {
		return
	}
	kind, rest, _ := strings.Cut(pattern, ":")
	if _, err := path.Match(pattern, ""); err != nil || rest == "" && pattern != "rules" || !slices.Contains([]string{"exec", "model", "rules"}, kind) {
		r.Add(r.At(n), "want exec:COMMAND, model:PROVIDER/NAME or rules, where * stands for any part, as in model:anthropic/*")
		return
	}
	r.config.Brains = append(r.config.Brains, pattern)
}

func (r *reader) limit(n ast.Node) {
	var l instance.Limit
	before := r.Problems()
	r.object(n, map[string]take{
		"at_once": r.count(&l.AtOnce),
		"state":   r.name(&l.State),
		"role":    r.name(&l.Role),
	})
	if l.AtOnce == 0 {
		if r.Problems() == before {
			r.Add(r.At(n), "a limit needs at_once: how much may be under way at a time")
		}
		return
	}
	r.config.places[fmt.Sprintf("limits.%d", len(r.config.Limits))] = r.At(n)
	r.config.Limits = append(r.config.Limits, l)
}
