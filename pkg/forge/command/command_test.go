package command_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/forge/command"
)

func TestACommandIsTheFirstWordOfALineOfOrdinaryText(t *testing.T) {
	for name, c := range map[string]struct {
		comment string
		want    []command.Command
		rest    string
	}{
		"alone":                          {"/signalbox retry", []command.Command{{"retry", ""}}, ""},
		"in any case":                    {"/SignalBox ReTry", []command.Command{{"retry", ""}}, ""},
		"with a reason":                  {"/signalbox pause  until   Monday\n", []command.Command{{"pause", "until   Monday"}}, ""},
		"without a verb":                 {"/signalbox", []command.Command{{"", ""}}, ""},
		"in the middle":                  {"I see.\n/signalbox retry\nThanks.", []command.Command{{"retry", ""}}, "I see.\n\nThanks."},
		"with line ends of a browser":    {"I see.\r\n/signalbox retry\r\nThanks.", []command.Command{{"retry", ""}}, "I see.\n\nThanks."},
		"two":                            {"/signalbox pause\n/signalbox status", []command.Command{{"pause", ""}, {"status", ""}}, ""},
		"twice":                          {"/signalbox retry\n\n/signalbox  Retry ", []command.Command{{"retry", ""}}, ""},
		"a little indented":              {"   /signalbox retry", []command.Command{{"retry", ""}}, ""},
		"above a line":                   {"/signalbox retry\n---\n", []command.Command{{"retry", ""}}, "---"},
		"with a remark that nobody sees": {"/signalbox retry <!-- now -->", []command.Command{{"retry", ""}}, ""},
		"with its spaces from elsewhere": {"/signalbox\u00a0retry\tnow", []command.Command{{"retry", "now"}}, ""},
		"misspelt":                       {"/signalbox aprove", []command.Command{{"aprove", ""}}, ""},
		"an answer with what is below": {"Hello\n/signalbox answer Q1: as here\n```go\n/signalbox cancel\n```\n> /signalbox cancel\n\n/signalbox status",
			[]command.Command{{"answer", "Q1: as here\n```go\n/signalbox cancel\n```\n> /signalbox cancel"}, {"status", ""}}, "Hello"},
		"in a fence":                  {"```\n/signalbox retry\n```", nil, "```\n/signalbox retry\n```"},
		"in a fence without its end":  {"~~~\n/signalbox retry", nil, "~~~\n/signalbox retry"},
		"indented as code":            {"    /signalbox retry", nil, "/signalbox retry"},
		"indented by a tab":           {"\t/signalbox retry", nil, "/signalbox retry"},
		"in a code span":              {"`a\n/signalbox retry\nb`", nil, "`a\n/signalbox retry\nb`"},
		"quoted":                      {"> /signalbox retry", nil, "> /signalbox retry"},
		"right below a quote":         {"> he said\n/signalbox retry", nil, "> he said\n/signalbox retry"},
		"in an HTML comment":          {"<!--\n/signalbox retry\n-->", nil, "<!--\n/signalbox retry\n-->"},
		"in one without its end":      {"<!-- \n\n/signalbox retry\n", nil, "<!-- \n\n/signalbox retry"},
		"in one within a paragraph":   {"a <!--\n/signalbox retry\n--> b", nil, "a <!--\n/signalbox retry\n--> b"},
		"in HTML":                     {"<details>\n/signalbox retry\n</details>", nil, "<details>\n/signalbox retry\n</details>"},
		"within a line":               {"try /signalbox retry", nil, "try /signalbox retry"},
		"in a list":                   {"- /signalbox retry", nil, "- /signalbox retry"},
		"in a table":                  {"|a|\n|-|\n|/signalbox retry|", nil, "|a|\n|-|\n|/signalbox retry|"},
		"in the words of a link":      {"[a\n/signalbox retry](https://example.com)", nil, "[a\n/signalbox retry](https://example.com)"},
		"escaped":                     {`\/signalbox retry`, nil, `\/signalbox retry`},
		"of another name":             {"/signalboxer retry\n/signalbox-2 retry\n/retry", nil, "/signalboxer retry\n/signalbox-2 retry\n/retry"},
		"a path":                      {"/signalbox/retry", nil, "/signalbox/retry"},
		"in a heading with its mark":  {"# /signalbox retry", nil, "# /signalbox retry"},
		"emphasised":                  {"**/signalbox retry**", nil, "**/signalbox retry**"},
		"after a space without width": {"\u200b/signalbox retry", nil, "\u200b/signalbox retry"},
		"nothing":                     {"", nil, ""},
		"too far down":                {strings.Repeat("a word\n\n", 1200) + "/signalbox retry", nil, strings.Repeat("a word\n\n", 1200) + "/signalbox retry"},
		"below nested quotes":         {strings.Repeat(">", 4000) + "\n\n/signalbox retry", nil, strings.Repeat(">", 4000) + "\n\n/signalbox retry"},
		"in code that ends far down":  {"`a\n/signalbox retry\n" + strings.Repeat("b\n", 5000) + "`", nil, "`a\n/signalbox retry\n" + strings.Repeat("b\n", 5000) + "`"},
	} {
		t.Run(name, func(t *testing.T) {
			got, rest := command.Parse("signalbox", c.comment)
			if !slices.Equal(got, c.want) || strings.TrimSpace(rest) != c.rest {
				t.Errorf("the commands are %q, the rest %q", got, rest)
			}
		})
	}
}

func TestWithoutANameThereAreNoCommands(t *testing.T) {
	if got, rest := command.Parse("", "/ retry\n/signalbox retry"); got != nil || rest != "/ retry\n/signalbox retry" {
		t.Errorf("the commands are %q, the rest %q", got, rest)
	}
}

// line is a line of a comment that may hold commands.
func line() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"/signalbox retry", "/signalbox answer Q1: x", "  /signalbox", "/signalbox\tpause a `b", "```", "~~~", "> a", ">", "<!--",
			"-->", "<details>", "", "    code", "- a", "1. a", "---", "`", "[a](b)", "|a|", "|-|", "# h", "a <!-- b", "\r", "\x00", "\xff"}),
		rapid.String(),
	)
}

func TestWhatIsQuotedFencedOrHiddenIsNeverACommand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line(), 0, 12).Draw(t, "lines")
		comment := strings.Join(lines, "\n")
		got, rest := command.Parse("signalbox", comment) // does not panic
		if len(got) == 0 && rest != strings.ReplaceAll(comment, "\r\n", "\n") {
			t.Fatalf("without a command %q became %q", comment, rest)
		}
		for _, c := range got {
			if c.Verb != strings.ToLower(c.Verb) || c.Verb != command.Answer && strings.Contains(c.Words, "\n") {
				t.Fatalf("a command is %q", c)
			}
		}
		flat := strings.NewReplacer("\r", " ", "\n", "\n> ").Replace(comment)
		if got, _ := command.Parse("signalbox", "> "+flat); got != nil {
			t.Fatalf("the quote of %q has %q", comment, got)
		}
		fence := "``````````"
		if !strings.Contains(comment, "`````") {
			if got, _ := command.Parse("signalbox", fence+"\n"+comment+"\n"+fence); got != nil {
				t.Fatalf("the code %q has %q", comment, got)
			}
		}
		if !strings.Contains(comment, "--") {
			if got, _ := command.Parse("signalbox", "<!--\n"+comment+"\n-->"); got != nil {
				t.Fatalf("the hidden %q has %q", comment, got)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("/signalbox retry\n> /signalbox cancel")
	f.Add("`a\n/signalbox answer Q1\n<!-- `")
	f.Fuzz(func(t *testing.T, comment string) {
		got, rest := command.Parse("signalbox", comment)
		if len(rest) > len(comment) || len(got) > strings.Count(comment, "\n")+1 {
			t.Errorf("%q has %q, and the rest %q", comment, got, rest)
		}
	})
}

func TestAWrongCommandIsToldWhatWouldBeRight(t *testing.T) {
	g, err := command.NewGrammar("signalbox", map[string]string{"cancel": "admin"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   command.Command
		want string // "": it is right
	}{
		{command.Command{Verb: "aprove"}, "is no command; did you mean approve?"},
		{command.Command{Verb: "lgtm"}, "is no command"},
		{command.Command{Verb: strings.Repeat("approve", 1000)}, "is no command"},
		{command.Command{Verb: "status", Words: "please"}, "stands alone on its line"},
		{command.Command{Verb: "budget"}, "wants more: budget +5usd"},
		{command.Command{Verb: "answer"}, "wants more: answer [Q1:] TEXT"},
		{command.Command{}, ""},
		{command.Command{Verb: "cancel", Words: "not wanted"}, ""},
	} {
		v, err := g.Check(c.of)
		if got := ""; err != nil {
			if got = err.Error(); got != c.want {
				t.Errorf("%.40q: %s", c.of, got)
			}
		} else if c.want != "" {
			t.Errorf("%.40q is %v", c.of, v)
		}
	}
	if v, err := g.Check(command.Command{Verb: "cancel"}); err != nil || v.Least != "admin" {
		t.Errorf("cancel takes %s, %v", v.Least, err)
	}
	for _, who := range []map[string]string{{"cancle": "write"}, {"cancel": "owner"}} {
		if _, err := command.NewGrammar("signalbox", who); err == nil {
			t.Errorf("%v is taken", who)
		}
	}
	if _, err := command.NewGrammar("signal box", nil); err == nil {
		t.Error("a name of two words is taken")
	}
}

func TestARepositoryCanConfigureEachCommand(t *testing.T) {
	var names []string
	for _, v := range command.Verbs() {
		names = append(names, v.Name)
	}
	if slices.Sort(names); !slices.Equal(names, repoconfig.CommandNames()) {
		t.Errorf("the commands are %q, and those of its file %q", names, repoconfig.CommandNames())
	}
}
