package question_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/question"
)

func TestAnAnswerIsReadInTheFormOfItsQuestion(t *testing.T) {
	store := question.Form{Kind: question.Choice, Options: []string{"PostgreSQL", "SQLite", "SQLite in memory"}}
	yes, days, text := question.Form{Kind: question.YesNo}, question.Form{Kind: question.Number}, question.Form{}
	const asked = "How many days are kept?"
	for _, c := range []struct {
		form        question.Form
		words, want string // "": it is no answer
		more        string
	}{
		{store, "b", "SQLite", ""}, {store, "B", "SQLite", ""}, {store, " (b) ", "SQLite", ""}, {store, "b)", "SQLite", ""}, {store, "**b**", "SQLite", ""},
		{store, "option C.", "SQLite in memory", ""}, {store, "b) SQLite", "SQLite", ""}, {store, "b please", "SQLite", ""}, {store, "b, thanks!", "SQLite", ""},
		{store, "sqlite", "SQLite", ""}, {store, "SQLite in memory", "SQLite in memory", ""}, {store, "`SQLite`", "SQLite", ""},
		{store, "b, because it is simpler", "SQLite", "because it is simpler"}, {store, "a\n\nWe run it already.", "PostgreSQL", "We run it already."},
		{store, "SQLite: the file is enough", "SQLite", "the file is enough"},
		{store, "z", "", ""}, {store, "d", "", ""}, {store, "a better idea would be files", "", ""}, {store, "SQLite is slow", "", ""}, {store, "not b", "", ""},
		{store, "a and b", "", ""}, {store, "", "", ""}, {store, "2", "", ""}, {store, "b.txt", "", ""}, {store, "MySQL", "", ""}, {store, "ab", "", ""},
		{store, "<script>a</script>", "", ""}, {store, "\x1b[31mb", "", ""},
		{yes, "yes", "yes", ""}, {yes, "Yes please", "yes", ""}, {yes, "y", "yes", ""}, {yes, "ok, thanks", "yes", ""}, {yes, "Nein.", "no", ""}, {yes, "👍", "yes", ""},
		{yes, "no, only on Linux", "no", "only on Linux"}, {yes, "yes - but slowly", "yes", "but slowly"},
		{yes, "no idea", "", ""}, {yes, "yesterday", "", ""}, {yes, "nobody knows", "", ""}, {yes, "maybe", "", ""},
		{days, "14", "14", ""}, {days, "+14", "14", ""}, {days, "-2.5", "-2.5", ""}, {days, "14 days", "14", ""}, {days, "1 day.", "1", ""}, {days, "14, as before", "14", "as before"},
		{days, "14 weeks", "", ""}, {days, "1,000", "", ""}, {days, "3,5", "", ""}, {days, "two", "", ""}, {days, "0x10", "", ""}, {days, "1e9", "", ""}, {days, "NaN", "", ""},
		{days, "about 14", "", ""}, {days, strings.Repeat("9", 100), "", ""},
		{text, " in the\n\nsecond file ", "in the\n\nsecond file", ""}, {text, " \n", "", ""},
	} {
		got, more, err := c.form.Read(asked, c.words)
		if got != c.want || more != c.more || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, question.ErrUnfit) {
			t.Errorf("%s %q is read as %q with %q, %v; want %q with %q", c.form.Kind, c.words, got, more, err, c.want, c.more)
		}
	}
	_, _, err := store.Read(asked, "z")
	if want := `no answer in the form of the question: "z"; permitted: a) PostgreSQL, b) SQLite, c) SQLite in memory`; err.Error() != want {
		t.Errorf("the error is %q", err)
	}
}

func TestAFormThatNobodyCanAnswerIsRefused(t *testing.T) {
	form := func(kind question.Kind, otherwise string, options ...string) question.Wanted {
		return question.Wanted{Form: question.Form{Kind: kind, Options: options, Default: otherwise}}
	}
	for name, c := range map[string]struct {
		form question.Wanted
		want string // of the error
	}{
		"one option":         {form(question.Choice, "", "a"), "2 to 20 options"},
		"an option twice":    {form(question.Choice, "", "Yes", "yes "), `"yes" is there twice`},
		"an empty option":    {form(question.Choice, "", "x", " "), "option 2"},
		"two lines":          {form(question.Choice, "", "x\ny", "z"), "option 1"},
		"options of a text":  {form(question.Text, "", "x", "y"), "only a choice"},
		"an unknown kind":    {form("slider", ""), `kind "slider"`},
		"a wrong default":    {form(question.Choice, "c", "x", "y"), `default "c"`},
		"a word as a number": {form(question.Number, "many"), `default "many"`},
		"no time":            {question.Wanted{Within: -time.Hour}, "within -1h"},
		"too long a time":    {question.Wanted{Within: 366 * 24 * time.Hour}, "within"},
	} {
		if _, err := c.form.Clean(); !errors.Is(err, question.ErrForm) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := form(question.Choice, "B", " x ", "y").Clean(); err != nil || got.Default != "y" || !slices.Equal(got.Options, []string{"x", "y"}) {
		t.Errorf("it is %+v, %v", got, err)
	}
}

func TestEachPermittedAnswerIsReadAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9 .,()-]{0,20}[A-Za-z0-9]`), 2, 6).Draw(t, "options")
		w, err := question.Wanted{Form: question.Form{Kind: question.Choice, Options: options}}.Clean()
		if err != nil {
			t.Skip(err)
		}
		for i, o := range w.Options {
			for _, words := range []string{o, strings.ToUpper(o), question.Letter(i) + ") " + o} {
				kept, err := w.Answer("", words)
				if again, _ := w.Answer("", kept); err != nil || kept != o || again != kept {
					t.Fatalf("%q is kept as %q, read again as %q, %v; want %q", words, kept, again, err, o)
				}
			}
		}
		if kept, err := w.Answer("", rapid.String().Draw(t, "words")); err == nil && !slices.Contains(w.Options, w.Value(kept)) {
			t.Fatalf("%q is no option", kept)
		}
	})
}
