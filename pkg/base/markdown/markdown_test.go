package markdown_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/markdown"
)

// slow are texts of about n bytes that are parsed in quadratic time or worse.
func slow(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	lines := func(line func(i int) string) string {
		var s strings.Builder
		for i := 1; s.Len() < n; i++ {
			s.WriteString(line(i))
		}
		return s.String()
	}
	return map[string]string{
		"quotes": repeat(">"), "lists": repeat("- "), "numbers": repeat("1. "), "stars and a word": repeat("* ") + "a", "images": repeat("![a]("), "links": repeat("[a]("),
		"empty links": repeat("[]("), "brackets": repeat("["), "emphases": repeat("*a_"), "stars": repeat("*a "), "definitions": repeat("[a]: b\n"),
		"other definitions": lines(func(i int) string { return fmt.Sprintf("[a%d]: b\n", i) }), "one run": repeat("*"), "strong": repeat("a**b"), "underscores": repeat("_a "),
		"a wide table":       strings.Repeat("|a", n/4) + "|\n" + strings.Repeat("|-", n/4) + "|\n" + strings.Repeat("|\n", 20),
		"a table that grows": strings.Repeat("|a", 150) + "|\n" + strings.Repeat("|-", 150) + "|\n" + repeat("|\n"),
		"quotes that grow":   lines(func(i int) string { return strings.Repeat(">", i) + "a\n" }), "lists that grow": lines(func(i int) string { return strings.Repeat("  ", i) + "- a\n" }),
		"deep lines": repeat(strings.Repeat(">", 31) + "a\n"), "backticks": repeat("`a"), "growing backticks": lines(func(i int) string { return strings.Repeat("`", i) + "a" }),
		"tags": repeat("<a "), "comments": repeat("<!--"), "instructions": repeat("<?"), "data": repeat("<![CDATA["), "addresses": repeat("a@"), "hosts": repeat("www."),
		"URLs": repeat("http://a"), "references": repeat("&amp"), "struck": repeat("~~a"), "parentheses": "[a](" + repeat("("), "angles": "[a](<" + repeat("<"), "titles": repeat(`[a](b "`),
		"spaces": repeat(" ") + "a", "tabs": repeat("\t") + "a", "empty items": repeat("-\n"), "loose items": repeat("- a\n\n"), "backslashes": repeat(`\`), "many lines": repeat("a\n"),
		"columns of colons": repeat("a:b@c."), "shortcuts": repeat("[a]"), "ends": repeat("]("), "closed links": repeat("[](") + repeat(")"), "links of quotes": repeat("> [](\n"),
	}
}

// quadratic are those that are refused. Without the refusal each takes more than a second.
var quadratic = []string{"quotes", "lists", "numbers", "stars and a word", "images", "links", "empty links", "emphases", "stars", "definitions", "other definitions", "strong",
	"underscores", "struck", "a wide table", "a table that grows", "quotes that grow", "lists that grow", "titles", "ends", "closed links", "links of quotes", "brackets"}

func TestATextThatWouldTakeLongToParseIsRefused(t *testing.T) {
	for name, source := range slow(65_000) {
		_, err := markdown.Parse([]byte(source))
		if refused := errors.Is(err, markdown.ErrComplex); refused != slices.Contains(quadratic, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALongPlanThatWouldTakeLongToParseIsRefused(t *testing.T) {
	also := []string{"shortcuts", "data"}
	for name, source := range slow(600_000) {
		_, err := markdown.ParseTasks([]byte(source))
		if refused := errors.Is(err, markdown.ErrComplex); refused != (slices.Contains(quadratic, name) || slices.Contains(also, name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatPeopleWriteIsParsed(t *testing.T) {
	for name, source := range map[string]string{
		"nothing": "", "a nested list": strings.Repeat("> ", 10) + "a\n" + strings.Repeat("- ", 10) + "b",
		"a changelog":         strings.Repeat("* [#123](https://github.test/acme/widgets/pull/123) by **ann**, with `code_of_a_function`\n", 500),
		"a table":             "|a|b|c|\n|-|-|-|\n" + strings.Repeat("|1|2|3|\n", 5000),
		"prose":               strings.Repeat("A sentence of *some* words, with a [link](https://a.example.test/x) in it.\n\n", 800),
		"lines of log output": strings.Repeat("2026-01-01 some_module_name: it_failed because of *this*\n", 300),
		"a rule":              strings.Repeat("-", 100) + "\n\n" + strings.Repeat("* ", 30),
	} {
		if _, err := markdown.Parse([]byte(source)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
