package rules_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
)

func TestARemarkIsNoAnswer(t *testing.T) {
	for _, said := range []string{
		"Thanks, I will look tomorrow.", "Thanks!", "Hi, thanks for asking. I'll get back to you on Monday", "will check later", "on it",
		"Sure, I'll answer tonight", "@bob can you look at the invoice export?", "Hi @bob, is that yours?", "any news?", "+1", "Same here.", "bump",
		"> **Q1.** Where?\n\nThanks, I will look tomorrow", "Sorry, I can't look at it this week", "I am out of office until the 3rd", "", "/hold",
		"Thank you for the quick answer\n\n@eve please see above", "let me ask my colleague", "Noted",
	} {
		if !rules.Remark(said, "signalbox[bot]") {
			t.Errorf("%q is taken for an answer", said)
		}
	}
	for _, said := range []string{
		"Q1: buy two", "1. buy two", "/answer the cart", "/approve", "/reject", "the cart", "Thanks! It is the cart.", "Sorry, no idea.", "I don't know", "yes", "Ok, thanks!",
		"No", "no, leave it as it is", "I will see an error in the log", "I see a blank page tomorrow's date on it", "@signalbox the cart", "@bob says it is the cart",
		"LGTM, go ahead", "👍", "Sure", "- the cart", "run\n```\nbuy 2\n```", "I need to click twice", "Please use big.Rat instead.", "合計が違う",
	} {
		if rules.Remark(said, "signalbox[bot]") {
			t.Errorf("%q is taken for a remark", said)
		}
	}
}
