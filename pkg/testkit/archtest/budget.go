package archtest

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// budgetFile lists how many lines of Go the groups and packages of the product may have.
const budgetFile = "pkg/testkit/archtest/budget.txt"

// unbudgeted is the number of lines below which a package needs no budget.
const unbudgeted = 100

// budget is a line of the file: a group, or a package of the group above it.
type budget struct {
	name  string
	line  int
	lines int // at most
}

// budgets reports groups and packages with more lines than the file of budgets permits them,
// packages that have no budget, and budgets of packages that are gone.
func budgets(t *tree) []Violation {
	has := map[string]int{}
	for _, f := range t.files {
		if !f.test && within(f.dir, "pkg", "services") {
			has[f.dir] += f.lines
		}
	}
	var all []Violation
	report := func(line int, text string, args ...any) {
		all = append(all, Violation{budgetFile, line, "budget", fmt.Sprintf(text, args...)})
	}
	var group budget
	sum, known := 0, map[string]bool{}
	end := func() {
		if sum > group.lines {
			report(group.line, "group %s has %d lines and a budget of %d: remove some, or raise it and say why in the commit", group.name, sum, group.lines)
		}
		sum = 0
	}
	for _, b := range t.budgets {
		if !strings.Contains(b.name, "/") {
			end()
			group = b
			continue
		}
		known[b.name] = true
		n := has[b.name]
		sum += n
		switch {
		case n == 0:
			report(b.line, "there is no package %s: remove its budget", b.name)
		case n > b.lines:
			report(b.line, "%s has %d lines and a budget of %d: remove some, or raise it and say why in the commit", b.name, n, b.lines)
		}
	}
	end()
	for _, dir := range t.dirs() {
		if n := has[dir]; n >= unbudgeted && !known[dir] && len(t.budgets) > 0 {
			report(1, "%s has %d lines and no budget: add it to a group", dir, n)
		}
	}
	return all
}

// readBudgets reads a file of names with a number each, if there is one.
func readBudgets(fsys fs.FS, name string) ([]budget, error) {
	text, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []budget
	for i, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		n := 0
		if len(fields) > 1 {
			n, err = strconv.Atoi(fields[1])
		}
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("%s:%d: want a name and a number: %q", name, i+1, line)
		}
		all = append(all, budget{fields[0], i + 1, n})
	}
	return all, nil
}
