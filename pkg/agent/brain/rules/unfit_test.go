package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// formed are a choice with a default, a yes or no, and a number.
func formed() []instance.Question {
	ask := func(n int, text string, form question.Form) instance.Question {
		return instance.Question{Number: n, From: "analyst", Text: text, AskedAt: noon, Form: form}
	}
	return []instance.Question{
		ask(1, "Which store is right?", question.Form{Kind: question.Choice, Options: []string{"PostgreSQL", "SQLite"}, Default: "SQLite", Reason: "Both occur."}),
		ask(2, "Should old files be kept?", question.Form{Kind: question.YesNo}),
		ask(3, "How many days?", question.Form{Kind: question.Number}),
	}
}

func TestCarelessRepliesToQuestionsWithAFormAreRead(t *testing.T) {
	all := formed()
	for name, c := range map[string]struct {
		said  []string // a comment each, the author before a colon and a space
		asked []instance.Question
		want  map[int]string // the answers as they are kept
		unfit string         // the numbers of those that are none
	}{
		"a colon without a space": {said: []string{"ann| 1:b\n2:yes\n3: 14"}, want: map[int]string{1: "SQLite", 2: "yes", 3: "14"}},
		"a list":                  {said: []string{"ann| 1) B\n2) no\n3) 14 days"}, want: map[int]string{1: "SQLite", 2: "no", 3: "14"}},
		"by name":                 {said: []string{"ann| Q1:a\nQ2: yes please\nQ3:7"}, want: map[int]string{1: "PostgreSQL", 2: "yes", 3: "7"}},
		"in two ways":             {said: []string{"ann| 1:b\n\nQ3: 7"}, want: map[int]string{1: "SQLite", 3: "7"}},
		"in part":                 {said: []string{"ann| Q2: no"}, want: map[int]string{2: "no"}},
		"a quoted mail": {said: []string{"ann| > **Q1.** Which store is right?\n>\n> - a) PostgreSQL\n> - b) SQLite (default)\n\nb, it is simpler\n\n> **Q3.** How many days?\n\n30\n\n-- \nAnn"},
			want: map[int]string{1: "SQLite\n\nit is simpler", 3: "30\n\n-- \nAnn"}},
		"a letter alone":                {said: []string{"ann| b"}, asked: all[:1], want: map[int]string{1: "SQLite"}},
		"yes please":                    {said: []string{"ann| Yes please!"}, asked: all[1:2], want: map[int]string{2: "yes"}},
		"a number alone":                {said: []string{"ann| 14"}, asked: all[2:], want: map[int]string{3: "14"}},
		"an option out of range":        {said: []string{"ann| Q1: c\nQ2: no"}, want: map[int]string{2: "no"}, unfit: "Q1"},
		"another unit":                  {said: []string{"ann| Q3: 2 weeks"}, unfit: "Q3"},
		"no idea":                       {said: []string{"ann| Q2: no idea"}, unfit: "Q2"},
		"left to us":                    {said: []string{"ann| Q1: I don't know"}, want: map[int]string{1: "SQLite"}},
		"an empty answer":               {said: []string{"ann| Q1:"}},
		"thanks":                        {said: []string{"ann| Thanks, I will look into it."}},
		"a question back":               {said: []string{"ann| What do you mean?"}, asked: all[:1]},
		"a script":                      {said: []string{"ann| Q1: <script>alert(1)</script>"}, unfit: "Q1"},
		"an option hidden in a comment": {said: []string{"ann| Q1: <!-- a --> b"}, want: map[int]string{1: "SQLite"}},
		"two people at once":            {said: []string{"ann| Q1: a", "ben| Q1: b"}, want: map[int]string{1: "SQLite"}},
		"a wrong one after a right one": {said: []string{"ann| Q1: a", "ben| Q1: z"}, want: map[int]string{1: "PostgreSQL"}, unfit: "Q1"},
		"a right one after a wrong one": {said: []string{"ann| Q1: z", "ann| Q1: a"}, want: map[int]string{1: "PostgreSQL"}},
		"an option of megabytes":        {said: []string{"ann| Q1: " + strings.Repeat("b", 1<<20)}, unfit: "Q1"},
	} {
		t.Run(name, func(t *testing.T) {
			a := brain.Assignment{State: "requirements_clarified", Entered: noon, Questions: all, Work: workflow.WorkSpec{Does: workflow.ReadAnswers}}
			if c.asked != nil {
				a.Questions = c.asked
			}
			for i, said := range c.said {
				author, text, _ := strings.Cut(said, "| ")
				a.Notes = append(a.Notes, instance.NoteEntry{Author: author, Kind: "commented", Text: text, At: noon.Add(time.Duration(i+1) * time.Minute)})
			}
			pm := rules.PM{}
			got, kept := pm.Answers(a), map[int]string{}
			for _, answer := range got {
				for _, q := range a.Questions {
					if q.Number == answer.Question {
						kept[q.Number], _ = q.Form.Answer(q.Text, answer.Text)
					}
				}
			}
			if c.want == nil {
				c.want = map[int]string{}
			}
			if diff := cmp.Diff(c.want, kept); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			var unfit []string
			for _, u := range pm.Unfitting(a, instance.Result{Answers: got}) {
				number, why, _ := strings.Cut(u.String(), ":")
				if unfit = append(unfit, number); !strings.Contains(why, "Permitted: ") {
					t.Errorf("it is refused with %s", u)
				}
			}
			if got := strings.Join(unfit, " "); got != c.unfit {
				t.Errorf("no answers are %q, want %q", got, c.unfit)
			}
		})
	}
}

func TestAnAnswerIsChangedUntilAnAgentWorksWithIt(t *testing.T) {
	all := formed()
	all[0].Answered, all[0].Answer, all[0].By = true, "SQLite", "ann"
	a := brain.Assignment{State: "requirements_clarified", Entered: noon.Add(time.Hour), Questions: all, Work: workflow.WorkSpec{Does: workflow.ReadAnswers},
		Notes: []instance.NoteEntry{{Author: "ann", Kind: "commented", Text: "Q1: b", At: noon.Add(time.Minute)},
			{Author: "ann", Kind: "commented", Text: "Q1: a", At: noon.Add(time.Hour)}}}
	pm := rules.PM{}
	if got := pm.Answers(a); len(got) != 1 || got[0] != (instance.QuestionAnswer{Question: 1, Text: "a", By: "ann"}) {
		t.Errorf("the answers are %+v", got)
	}
	all[0].Used = true
	unfit := pm.Unfitting(a, instance.Result{})
	if got := pm.Answers(a); len(got) != 0 || len(unfit) != 1 {
		t.Fatalf("of an answer in use they are %+v, refused %v", got, unfit)
	}
	const want = "I could not take this as an answer:\n\n- **Q1:** it was answered with “SQLite”, and an agent works with that already."
	if text := rules.Unread(unfit); !strings.HasPrefix(text, want) {
		t.Errorf("the comment is %s", text)
	}
}

func TestACommentListsOptionsDefaultAndDeadline(t *testing.T) {
	all := formed()
	all[0].Deadline = noon.Add(48 * time.Hour)
	const want = `**Q1.** Which store is right?

- a) PostgreSQL
- b) SQLite (default)

Without an answer, “SQLite” is taken at `
	if text := rules.Questions(brain.Assignment{Questions: all}); !strings.Contains(text, want) || !strings.Contains(text, "Why: Both occur.") ||
		!strings.Contains(text, "**Q2.** Should old files be kept?\n\nAnswer yes or no.") {
		t.Errorf("the comment is\n%s", text)
	}
}

func TestAReplyThatNamesAnUnknownQuestionIsRefused(t *testing.T) {
	all := formed()
	all[0].Answered = true
	all = append(all, instance.Question{Number: 4, From: "developer", To: "architect", Text: "Which index?"})
	for body, want := range map[string]string{
		"Q9: yes":              "Q9: no question to you has this number. Open: Q2, Q3.",
		"Q2: yes\nQ12: 3":      "Q12: no question to you has this number. Open: Q2, Q3.",
		"Q4: the first":        "Q4: no question to you has this number. Open: Q2, Q3.",
		"/answer 7 yes":        "Q7: no question to you has this number. Open: Q2, Q3.",
		"Q2: yes":              "",
		"Q1: a":                "", // it changes an answer
		"```\nQ9: yes\n```":    "",
		"> Q9: yes\n\nQ2: yes": "",
	} {
		var got []string
		for _, u := range rules.Check(body, all) {
			got = append(got, u.String())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
	if got := rules.Check("Q9: go on", nil); got != nil {
		t.Errorf("an answer to an escalation, which has no number: got %v", got)
	}
}
