package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestTheTitleIs(t *testing.T) {
	for _, c := range []struct{ name, src, title, body string }{
		{"the first heading", "# It breaks\n\nAlways.\n", "It breaks", "Always."},
		{"a heading of any level", "### It breaks\nAlways.", "It breaks", "Always."},
		{"a heading without its closing marks", "## It breaks ##\n", "It breaks", ""},
		{"a heading with a sharp in it", "# C# breaks\n", "C# breaks", ""},
		{"all there is", "# It breaks", "It breaks", ""},
		{"a heading below other text, which stays", "Hello!\n\n# It breaks\n\nAlways.", "It breaks", "Hello!\n\n\nAlways."},
		{"the first of two headings", "# It breaks\n## Steps\n1. Run it.", "It breaks", "## Steps\n1. Run it."},
		{"an underlined heading", "It breaks\n=========\n\nAlways.", "It breaks", "Always."},
		{"an underlined heading of the second level", "It breaks\n---\nAlways.", "It breaks", "Always."},
		{"an underlined heading of two lines", "It breaks\non Mondays\n===\nAlways.", "It breaks on Mondays", "Always."},
		{"not a heading that has no text", "#\n\n# It breaks", "It breaks", "#"},
		{"not a word with a sharp", "#bug\n\n# It breaks\n", "It breaks", "#bug"},
		{"not a comment in a code block", "```sh\n# run it\n```\n# It breaks\n", "It breaks", "```sh\n# run it\n```"},
		{"not a comment in a tilde block with a fence in it", "~~~\n```\n# run it\n~~~\n# It breaks\n", "It breaks", "~~~\n```\n# run it\n~~~"},
		{"not a comment behind a fence that does not close", "````\n```\n# run it\n````\n# It breaks\n", "It breaks", "````\n```\n# run it\n````"},
		{"not indented code", "    # run it\n\n# It breaks\n", "It breaks", "    # run it"},
		{"not in an HTML comment", "<!-- please fill in\n# Title\n-->\n# It breaks\n", "It breaks", "<!-- please fill in\n# Title\n-->"},
		{"not a list above a rule", "- one\n---\n# It breaks", "It breaks", "- one\n---"},
		{"not a quote", "> # They said\n\n# It breaks", "It breaks", "> # They said"},
		{"the first line where there is no heading", "It breaks.\n\nAlways.", "It breaks.", "Always."},
		{"the first line of a paragraph where there is no heading", "\n  It breaks.\nAlways.\n", "It breaks.", "Always."},
		{"the first line above code with a comment", "It breaks:\n```\n# run it\n```", "It breaks:", "```\n# run it\n```"},
		{"behind a byte order mark", "\ufeff# It breaks\nAlways.", "It breaks", "Always."},
		{"the same with CRLF", "# It breaks\r\n\r\nAlways.\r\nReally.\r\n", "It breaks", "Always.\nReally."},
		{"a heading with a form's first word", "# Version.Scan cannot read from MySQL\n\nIt fails.\n\n## Steps\n1. Run it.", "Version.Scan cannot read from MySQL",
			"It fails.\n\n## Steps\n1. Run it."},
		{"steps that are skipped", "# Steps are skipped\n\nThe second one.", "Steps are skipped", "The second one."},
		{"an error that is expected", "# Expected error is missing\n\nIt is nil.", "Expected error is missing", "It is nil."},
		{"a variable of the environment", "# Environment variable FOO is ignored\n\nx", "Environment variable FOO is ignored", "x"},
		{"a description", "# Description is lost\n\nx", "Description is lost", "x"},
		{"a question of a form", "### What did you do?\n\nI ran it. It broke.\n\n### Expected behavior\n\nNone.", "I ran it",
			"### What did you do?\n\nI ran it. It broke.\n\n### Expected behavior\n\nNone."},
		{"the front matter's", "---\ntitle: It breaks\n---\n# Steps\n1. Run it.", "It breaks", "# Steps\n1. Run it."},
		{"a heading below front matter without one", "---\nlabels: []\n---\n# It breaks\n", "It breaks", ""},
		{"the first answer to GitHub's template", "---\nname: Bug report\nabout: Create a report\ntitle: ''\nlabels: bug\nassignees: ''\n---\n\n" +
			"**Describe the bug**\nThe last page is missing. Always.\n\n**To Reproduce**\nLook.",
			"The last page is missing", "**Describe the bug**\nThe last page is missing. Always.\n\n**To Reproduce**\nLook."},
		{"the kind and the first answer", "---\nname: Bug\ntitle: '[BUG] '\n---\n<!-- hello -->\n### What happened?\n\nIt breaks", "[BUG] It breaks",
			"<!-- hello -->\n### What happened?\n\nIt breaks"},
		{"the template's where a person completed it", "---\nname: Bug\ntitle: '[BUG] It breaks'\n---\nAlways.", "[BUG] It breaks", "Always."},
		{"the first answer of a form", "### Is there an existing issue for this?\n\n- [x] I have searched\n\n### What happened?\n\nIt breaks\n\n### Version\n\n1.2",
			"It breaks", "### Is there an existing issue for this?\n\n- [x] I have searched\n\n### What happened?\n\nIt breaks\n\n### Version\n\n1.2"},
		{"the question where nobody answered", "### What happened?\n\n_No response_\n", "What happened?", "_No response_"},
		{"a heading below empty front matter", "---\n---\n# It breaks\n", "It breaks", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse([]byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if got.Title != c.title || got.Body != c.body {
				t.Errorf("got title %q, body %q\nwant     %q,      %q", got.Title, got.Body, c.title, c.body)
			}
		})
	}
}

func TestFrontMatterSays(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      instance.Issue
	}{
		{"everything", "\ufeff---\r\nlabels: [bug, urgent]\r\nnumber: 7\r\nauthor: ann\r\n---\r\n# It breaks\r\n",
			instance.Issue{Title: "It breaks", Number: 7, Author: "ann", Labels: []string{"bug", "urgent"}}},
		{"labels as a block", "---\nlabels:\n  - bug\n  - urgent\n---\n# It breaks\n",
			instance.Issue{Title: "It breaks", Labels: []string{"bug", "urgent"}}},
		{"labels as one text", "---\nlabels: bug, urgent\n---\n# It breaks\n",
			instance.Issue{Title: "It breaks", Labels: []string{"bug", "urgent"}}},
		{"a title that needs quotes", "---\ntitle: \"It breaks: always\"\n...\n", instance.Issue{Title: "It breaks: always"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse([]byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, src string
		is        error
		want      string
	}{
		{"is nothing", "", ErrEmpty, "# What is wrong"},
		{"is a byte order mark alone", "\ufeff", ErrEmpty, "# What is wrong"},
		{"are blanks", " \r\n\t\n", ErrEmpty, "# What is wrong"},
		{"is front matter alone", "---\nlabels: [bug]\n---\n\n", ErrEmpty, "# What is wrong"},
		{"is code alone", "```\n# run it\n```\n", ErrNoTitle, "start it with a heading"},
		{"is a list", "- one\n- two\n", ErrNoTitle, "start it with a heading"},
		{"is a headless comment", "<!-- describe it -->\n", ErrNoTitle, "start it with a heading"},
		{"has a title that is an essay", strings.Repeat("word ", 60), nil, "the title has 299 characters, want at most 256"},
		{"has a key nobody knows", "---\ntitle: x\nlabel: bug\n---\n", nil, `line 3: front matter has no "label", want some of title, number, author and labels`},
		{"has a number that is none", "---\nnumber: seven\n---\n# x\n", nil, "line 2: front matter"},
		{"has a number below zero", "---\nnumber: -7\n---\n# x\n", nil, "number is -7"},
		{"has labels that are a table", "---\nlabels: {a: b}\n---\n# x\n", nil, "line 2: front matter"},
		{"has front matter that is no YAML", "---\ntitle: [x\n---\n# x\n", nil, "line "},
		{"has front matter that is a text", "---\nhello\n---\n# x\n", nil, "front matter"},
		{"has front matter without end", "---\ntitle: x\n# x\n", nil, "line 1: front matter starts here and never ends"},
		{"is not UTF-8", "# \xff\n", nil, "not UTF-8"},
		{"is binary", "# \x00\n", nil, "not UTF-8"},
		{"is too large", "# x\n" + strings.Repeat("y", MaxSize), nil, "want at most 4194304"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse([]byte(c.src))
			if err == nil {
				t.Fatalf("taken as %+v", got)
			}
			if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want %q in it", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nlabels: [bug]\n---\n# It breaks\n\nAlways.\n"))
	f.Add([]byte("It breaks\n=====\n~~~\n# x"))
	f.Fuzz(func(t *testing.T, src []byte) {
		issue, err := Parse(src)
		if err == nil && strings.TrimSpace(issue.Title) == "" {
			t.Errorf("%q was taken without a title", src)
		}
	})
}

func TestAShortenedReportSaysWhereTheWholeOfItIs(t *testing.T) {
	long := strings.Repeat("a line of a log\n", 10_000)
	for where, want := range map[string]string{InFile: "SIGNALBOX_REPORT names.)", AtReporter: "was given to signalbox open"} {
		if got, cut := Shorten(long, where); !cut || !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got[24000:len(got)-24000])
		}
	}
}

func TestALongReportKeepsItsBeginningAndItsEnd(t *testing.T) {
	if got, cut := Shorten(strings.Repeat("ö", MaxBody), InFile); cut || len(got) != 2*MaxBody {
		t.Errorf("what is short enough is cut to %d bytes", len(got))
	}
	body := "Begin\n```\n" + strings.Repeat("a line of a log, with ö\n", 9000) + "```\nEnd"
	got, cut := Shorten(body, InFile)
	if !cut || len([]rune(got)) > MaxBody || !strings.HasPrefix(got, "Begin\n```\na line") || !strings.HasSuffix(got, "a line of a log, with ö\n```\nEnd") {
		t.Fatalf("%t, %d bytes: %.60q … %q", cut, len(got), got, got[len(got)-60:])
	}
	if !strings.Contains(got, "\n```\n\n(") || !strings.Contains(got, "SIGNALBOX_REPORT names.)\n\n```\na line") || strings.Count(got, "```") != 4 {
		t.Errorf("the sentence is within the code: %q", got[24400:24900])
	}
	if other, _ := Shorten(strings.Replace(body, "Begin\n```\n"+strings.Repeat("a line of a log, with ö\n", 5000), "Begin\n```\n"+
		strings.Repeat("a line of a log, with ö\n", 4999)+"a line of a log, with ä\n", 1), InFile); other == got {
		t.Error("another middle is not seen")
	}
}
