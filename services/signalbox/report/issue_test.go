package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/services/signalbox/report"
)

const viewed = `{"body":"With 25 widgets, ten a page, there are two pages.","labels":[{"id":"LA_1","name":"bug","description":"Something","color":"d73a4a"},{"name":"good first issue"}],"number":42,"title":"The last page is missing","url":"https://github.com/acme/widgets/issues/42"}`

func TestAnIssueIsReadAsItIsViewed(t *testing.T) {
	got, err := report.ParseIssue([]byte(viewed + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Number != 42 || got.Title != "The last page is missing" || !strings.HasPrefix(got.Body, "With 25") || got.Repo != "acme/widgets" ||
		got.URL != "https://github.com/acme/widgets/issues/42" || !slices.Equal(got.Labels, []string{"bug", "good first issue"}) {
		t.Errorf("read as %+v", got)
	}
	if got, err := report.ParseIssue([]byte(strings.Replace(viewed, "github.com", "git.example.org:8443", 1))); err != nil ||
		got.Repo != "acme/widgets" {
		t.Errorf("on another host: %+v, %v", got, err)
	}
}

func TestWhatIsNoIssueIsRefusedWithWhatWouldBe(t *testing.T) {
	without := func(key, by string) string { return strings.Replace(viewed, key, by, 1) }
	for name, c := range map[string]struct{ text, says string }{
		"nothing":                  {"", "it is empty, want what `gh issue view"},
		"Markdown":                 {"# The last page\n", "line 1: it is not JSON"},
		"JSON that breaks off":     {viewed[:len(viewed)-1], "not the JSON of an issue"},
		"an error in a later line": {"{\n\"number\": 42,\n\"title\" \"x\"}", "line 3: it is not JSON"},
		"a list of issues":         {"[" + viewed + "]", "it is a list, want one issue"},
		"two issues":               {viewed + viewed, "more than one JSON value"},
		"no number":                {without(`"number":42,`, ""), "number is missing"},
		"a number that is a text":  {without(`"number":42`, `"number":"42"`), "number is a string, want a int"},
		"no title":                 {without("The last page is missing", " "), "title is missing"},
		"no body":                  {without(`"body":`, `"text":`), "body is missing"},
		"no address":               {without(`"url":`, `"link":`), "url is missing"},
		"labels that are texts":    {without(`"labels":[`, `"labels":["bug",`), `labels are a list of objects, each with a name: [{"name": "bug"}]`},
		"a label without a name":   {without(`"name":"bug",`, ""), "labels[0] has no name"},
		"a pull request":           {without("/issues/", "/pull/"), "is a pull request's, want an issue"},
		"another issue's address":  {without("/issues/42", "/issues/41"), "is of issue 41, and number is 42"},
		"an address of anything":   {without("https://github.com/acme/widgets/issues/42", "https://github.com/acme"), "is not an issue's"},
		"no address at all":        {without("https://github.com/", "acme/"), "is not an address"},
		"a title that goes on":     {without("The last page is missing", strings.Repeat("x", 300)), "the title has 300 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := report.ParseIssue([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("read as %+v, %v; want %q", got, err, c.says)
			}
		})
	}
}

// FuzzParseIssue holds that a file with an issue is read or refused.
func FuzzParseIssue(f *testing.F) {
	f.Add([]byte("---\ntitle: x\nlabels: [a, b]\n---\nbody"))
	f.Add([]byte(`{"title":"x","body":"y","number":1,"labels":[{"name":"a"}]}`))
	f.Fuzz(func(_ *testing.T, src []byte) { _, _ = report.ParseIssue(src) })
}
