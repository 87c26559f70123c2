package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// three are questions 1 to 3, of which those given are answered.
func three(answered ...int) (all []instance.Question) {
	for i, text := range []string{
		"**Steps to reproduce.** What has to be done to see “Totals are off”?",
		"**What should happen.** What would be right in “Totals are off”?",
		"**Where.** Where do you see “Totals are off”?",
	} {
		q := instance.Question{Number: i + 1, From: "analyst", Text: text}
		if slices.Contains(answered, q.Number) {
			q.Answered, q.Answer = true, "said before"
		}
		all = append(all, q)
	}
	return all
}

func toEach(text string) []string { return slices.Repeat([]string{text}, 3) }

func TestParseAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		answered []int // of the three
		want     []string
	}{
		"by name":                     {"Q1: buy two\nQ2: 2.00\nQ3: the cart", nil, []string{"buy two", "2.00", "the cart"}},
		"by name, in any order":       {"Q3: the cart\n\nQ1: buy two", nil, []string{"buy two", "", "the cart"}},
		"by name, bold and in points": {"- **Q1.** buy two\n- **Q2**: 2.00\n- Question 3) the cart", nil, []string{"buy two", "2.00", "the cart"}},
		"by name, over many lines":    {"Hello!\n\nQ1: buy two,\nthen pay\n\n1. really pay\n\nQ2:\n2.00", nil, []string{"buy two,\nthen pay\n\n1. really pay", "2.00", ""}},
		"by name, twice":              {"Q1: buy two\nQ1: no, three", nil, []string{"buy two\nno, three", "", ""}},
		"by name, of one answered":    {"Q1: buy three\nQ2: 2.00", []int{1}, []string{"", "2.00", ""}},
		"by name, of none asked":      {"Q7: buy three", nil, nil},
		"by list":                     {"1. buy two\n2. 2.00\n3. the cart", nil, []string{"buy two", "2.00", "the cart"}},
		"by list with brackets":       {"1) buy two\n\n3) the cart", nil, []string{"buy two", "", "the cart"}},
		"by list, of those left":      {"2. 2.00\n3. the cart", []int{1}, []string{"", "2.00", "the cart"}},
		"by list, counted from one":   {"1. the shop\n", []int{1, 2}, []string{"", "", "the shop"}},
		"a list of steps to one question": {
			"1. buy two\n2. pay\n3. look\n4. wonder", []int{2, 3}, []string{"1. buy two\n2. pay\n3. look\n4. wonder", "", ""},
		},
		"a list that is no answer":       {"2. look\n1. pay", nil, nil},
		"by command":                     {"/answer Q2 2.00\n/answer 3 the cart\nand the shop", nil, []string{"", "2.00", "the cart\nand the shop"}},
		"by command with the bot's name": {"/signalbox answer Q1: buy two", nil, []string{"buy two", "", ""}},
		"by command to one question":     {"/answer the cart", []int{1, 2}, []string{"", "", "the cart"}},
		"by quote with numbers": {
			"> **Q1.** **Steps to reproduce.** What has to be done?\n\nbuy two\n\n> **Q3.** Where?\nthe cart", nil, []string{"buy two", "", "the cart"},
		},
		"by quote of the words":        {"> What would be right in “Totals are off”?\n\n2.00", nil, []string{"", "2.00", ""}},
		"a quote of all the questions": {"> 1. Steps\n> 2. What should happen\n> 3. Where\n\nbuy two for 2.00 in the cart", nil, nil},
		"a quote of something else":    {"> me too\n\nthe cart", []int{1, 2}, []string{"", "", "the cart"}},
		"a reply by mail":              {"the cart\n\nOn Tue, Jan 6, 2026 at 9:00 PM bot wrote:\n> **Q1.** Steps\n> **Q3.** Where\n", []int{1, 2}, []string{"", "", "the cart"}},
		"free text to one question":    {"It is the cart.\n\nAnd the shop.", []int{1, 2}, []string{"", "", "It is the cart.\n\nAnd the shop."}},
		"a paragraph for each":         {"Hi,\n\nbuy two\n\n2.00\n\nthe cart\n\nThanks!", nil, []string{"buy two", "2.00", "the cart"}},
		"a paragraph with code for each": {
			"run\n\n```\nbuy 2\n\n1. pay\n```\n\n2.00\n\nthe cart", nil, []string{"run\n```\nbuy 2\n\n1. pay\n```", "2.00", "the cart"},
		},
		"a point for each":                      {"Sure:\n- buy two\n- 2.00\n- the cart\n  on top", nil, []string{"buy two", "2.00", "the cart\n  on top"}},
		"free text that has what one asks for":  {"Buy two, it should be 2.00.", nil, []string{"", "Buy two, it should be 2.00.", ""}},
		"free text of no use":                   {"It is about the shop of last year.", nil, nil},
		"free text of somebody who cannot tell": {"Sorry, no idea.", nil, toEach("Sorry, no idea.")},
		"free text that leaves it to us":        {"Just go ahead with what you have.", nil, toEach("Just go ahead with what you have.")},
		"a remark":                              {"Thanks, I will look tomorrow.", nil, nil},
		"a remark to one question":              {"Thanks, I will look tomorrow.", []int{1, 2}, nil},
		"a remark by name":                      {"Q1: I'll check tomorrow\nQ2: 2.00", nil, []string{"", "2.00", ""}},
		"a remark below a quote":                {"> **Q1.** Steps\n\nThanks, will look later", nil, nil},
		"a word to somebody else":               {"@bob can you tell?", []int{1, 2}, nil},
		"words to others, as many as questions": {"@bob can you tell?\n\n@eve you, too\n\nI'll be back tomorrow", nil, nil},
		"a question back":                       {"Why do you need that?", []int{1, 2}, nil},
		"consent to what is no such question":   {"ok", []int{1, 2}, nil},
		"code is left alone":                    {"Q1: run\n```sh\n# Q2: no\n> not a quote\n/answer 3 no\n<!-- not hidden -->\n```", nil, []string{"run\n```sh\n# Q2: no\n> not a quote\n/answer 3 no\n<!-- not hidden -->\n```", "", ""}},
		"what is hidden":                        {"Q1: buy<!-- Q2: no --> two\n<!--\nQ3: no\n-->\nnow", nil, []string{"buy two\nnow", "", ""}},
		"other commands":                        {"/hold\nQ1: buy two\n/retry now", nil, []string{"buy two", "", ""}},
		"a path is no command":                  {"/usr/bin/shop", []int{1, 2}, []string{"", "", "/usr/bin/shop"}},
		"lines of Windows":                      {"Q1: buy two\r\nQ2: 2.00\r\n", nil, []string{"buy two", "2.00", ""}},
		"only a quote":                          {"> Q1: buy two", nil, nil},
		"only a command":                        {"/retry", nil, nil},
		"nothing":                               {"  \n", nil, nil},
		"nothing is asked":                      {"Q1: buy two", []int{1, 2, 3}, nil},
		"an empty answer":                       {"Q1:\nQ2: 2.00", nil, []string{"", "2.00", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []instance.QuestionAnswer
			for i, text := range c.want {
				if text != "" {
					want = append(want, instance.QuestionAnswer{Question: i + 1, Text: text})
				}
			}
			if diff := cmp.Diff(want, rules.ParseAnswers(c.body, three(c.answered...), true)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseAnswersInOrderOfNewNumbers(t *testing.T) {
	open := []instance.Question{{Number: 4, Text: "Where?"}, {Number: 5, Text: "Why?"}}
	want := []instance.QuestionAnswer{{Question: 4, Text: "the cart"}, {Question: 5, Text: "to buy"}}
	if diff := cmp.Diff(want, rules.ParseAnswers("1. the cart\n2. to buy", open, true)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseAnswersNeverInventsAny(t *testing.T) {
	piece := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 9), func(n int) string { return fmt.Sprintf("Q%d: ", n) }),
		rapid.Map(rapid.IntRange(0, 9), func(n int) string { return fmt.Sprintf("\n%d. ", n) }),
		rapid.Map(rapid.IntRange(0, 9), func(n int) string { return fmt.Sprintf("\n/answer Q%d ", n) }),
		rapid.SampledFrom([]string{"\n", "\n\n", "\n> ", "\n```\n", "<!--", "-->", "\n- ", "\n/hold", "\r\n", "words", "**Q1.**", "99999999999999999999. "}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "body"), "")
		var questions []instance.Question
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 9), 0, 6, rapid.ID[int]).Draw(t, "numbers") {
			questions = append(questions, instance.Question{Number: n, Text: rapid.String().Draw(t, "text"), Answered: rapid.Bool().Draw(t, "answered")})
		}
		last := 0
		for _, a := range rules.ParseAnswers(body, questions, true) {
			if !slices.ContainsFunc(questions, func(q instance.Question) bool { return q.Number == a.Question && !q.Answered }) {
				t.Fatalf("%q answers question %d, which is not open", body, a.Question)
			}
			if a.Question <= last || strings.TrimSpace(a.Text) == "" {
				t.Fatalf("question %d after %d has the text %q", a.Question, last, a.Text)
			}
			last = a.Question
		}
	})
}
