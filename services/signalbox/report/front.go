package report

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// front has the keys of the front matter.
type front struct {
	Title  string `yaml:"title"`
	Number int    `yaml:"number"`
	Author string `yaml:"author"`
	Labels labels `yaml:"labels"`

	// The other keys of GitHub's issue templates and forms.
	Name        any `yaml:"name"`
	About       any `yaml:"about"`
	Description any `yaml:"description"`
	Assignees   any `yaml:"assignees"`
	Projects    any `yaml:"projects"`
	Type        any `yaml:"type"`
	Milestone   any `yaml:"milestone"`
}

// template reports whether the front matter is that of an issue template.
func (f front) template() bool { return f.Name != nil || f.About != nil || f.Description != nil }

const keys = "title, number, author and labels"

// labels is a list in YAML, or one text with commas as in GitHub's issue templates.
type labels []string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *labels) UnmarshalYAML(node ast.Node) error {
	var list []string
	if err := yaml.NodeToValue(node, &list); err != nil {
		var one string
		if yaml.NodeToValue(node, &one) != nil {
			return err
		}
		list = strings.Split(one, ",")
	}
	for _, label := range list {
		if label = strings.TrimSpace(label); label != "" {
			*l = append(*l, label)
		}
	}
	return nil
}

// frontMatter parses the YAML between a first line --- and the next one. It returns
// the lines after it.
func frontMatter(lines []string, issue *instance.Issue) ([]string, error) {
	if strings.TrimRight(lines[0], " \t") != "---" {
		return lines, nil
	}
	end := 1
	for ; end < len(lines); end++ {
		if l := strings.TrimRight(lines[end], " \t"); l == "---" || l == "..." {
			break
		}
	}
	if end == len(lines) {
		return nil, errors.New("line 1: front matter starts here and never ends, want a second line \"---\"")
	}
	var f front
	// The empty line makes the parser's line numbers those of the file.
	src := "\n" + strings.Join(lines[1:end], "\n")
	if strings.TrimSpace(src) != "" {
		if err := yamltext.Unmarshal([]byte(src), &f, yaml.Strict()); err != nil {
			return nil, locate(err)
		}
	}
	if f.Number < 0 {
		return nil, fmt.Errorf("front matter: number is %d, want that of an issue, or none", f.Number)
	}
	issue.Title, issue.Number, issue.Author, issue.Labels = strings.TrimSpace(f.Title), f.Number, f.Author, f.Labels
	lines = lines[end+1:]
	if f.template() && prefix.MatchString(issue.Title) { // the template's own, which nobody completed
		if said := answered(lines); said != "" {
			issue.Title = strings.TrimSpace(issue.Title + " " + said)
		}
	}
	return lines, nil
}

// locate returns a YAML error that begins with the line and names the known keys.
func locate(err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return fmt.Errorf("front matter: %w", err)
	}
	if _, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		return fmt.Errorf("line %d: front matter has no %q, want some of %s", at.GetToken().Position.Line, at.GetToken().Value, keys)
	}
	return fmt.Errorf("line %d: front matter: %s", at.GetToken().Position.Line, at.GetMessage())
}
