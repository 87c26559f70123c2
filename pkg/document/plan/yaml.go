package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

// document is a plan in YAML.
type document struct {
	Title string `yaml:"title"`
	Tasks []struct {
		ID          string   `yaml:"id"`
		Title       string   `yaml:"title"`
		Description string   `yaml:"description"`
		DependsOn   []string `yaml:"depends_on"`
		Priority    *int     `yaml:"priority"`
	} `yaml:"tasks"`
}

// yaml reads title and tasks: id, title, description, depends_on, priority.
func (d *draft) yaml(src []byte) {
	src = yamltext.WithoutMark(src)
	if err := yamltext.Check(src); err != nil {
		d.problem(1, "%v", err)
		return
	}
	file, err := parser.ParseBytes(src, 0)
	var doc document
	if err == nil && len(strings.TrimSpace(string(src))) > 0 {
		err = yamltext.Unmarshal(src, &doc, yaml.Strict())
	}
	if err != nil {
		line, text := 1, err.Error()
		if at := yaml.Error(nil); errors.As(err, &at) {
			text = at.GetMessage()
			if t := at.GetToken(); t != nil && t.Position != nil {
				line = t.Position.Line
			}
		}
		d.problem(line, "%s", text)
		return
	}
	d.title = doc.Title
	for i, t := range doc.Tasks {
		it := item{Task: Task{
			ID: t.ID, Title: strings.TrimSpace(t.Title), Description: strings.TrimSpace(t.Description), Line: line(file, "$.tasks[%d]", i),
		}}
		if t.Priority != nil {
			it.Priority, it.given = *t.Priority, true
		}
		for j, id := range t.DependsOn {
			it.needs = append(it.needs, need{id, line(file, "$.tasks[%d].depends_on[%d]", i, j)})
		}
		d.items = append(d.items, it)
	}
}

// line is where the value at a path is.
func line(file *ast.File, format string, args ...any) int {
	path, err := yaml.PathString(fmt.Sprintf(format, args...))
	if err != nil {
		return 1
	}
	node, err := path.FilterFile(file)
	if err != nil || node == nil {
		return 1
	}
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 { // its own token is that of the first colon
		node = m.Values[0].Key
	}
	return node.GetToken().Position.Line
}
