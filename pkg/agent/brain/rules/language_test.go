package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestNothingIsAskedForThatStandsInTheReport(t *testing.T) {
	for name, body := range map[string]string{
		"English, in one line":  "Steps: call `Size(1000000)`. Expected: `1.0 MB`. Actual: `1000.0 kB`. Where: `size.go`.",
		"English, bold":         "**Steps:** call it. **Expected:** 7. **Actual:** 6.",
		"a form with marks":     "### Self Checks\n- [X] I have searched\n### Dify version\n0.6.15\n### Steps to reproduce\nopen it\n### ✔️ Expected Behavior\n7\n### ❌ Actual Behavior\n6\n",
		"German":                "Schritte: `Position(\"x\")` aufrufen.\nErwartet: 7\nTatsächlich: 6\n",
		"German, with headings": "### Schritte zur Reproduktion\nSeite öffnen\n### Erwartetes Verhalten\nSumme 2\n### Tatsächliches Verhalten\nSumme 3\n",
		"German, free":          "Wenn ich `app list` aufrufe, zeigt die Seite 3 Zeilen, es sollten 4 sein.",
		"Spanish":               "Pasos: llamar a `Position`.\nEsperado: 7\nObtenido: 6\n",
		"Spanish, long labels":  "**Pasos para reproducir**: abrir la página\n**Resultado esperado**: 7\n**Resultado obtenido**: 6\n",
		"Portuguese":            "Passos para reproduzir: abrir a tela\nResultado esperado: 7\nResultado obtido: 6\n",
		"French":                "Étapes : ouvrir la page\nRésultat attendu : 7\nRésultat obtenu : 6\n",
		"Italian":               "Passi per riprodurre: aprire la pagina\nRisultato atteso: 7\nRisultato ottenuto: 6\n",
		"Russian":               "Шаги: открыть страницу\nОжидаемый результат: 7\nФактический результат: 6\n",
		"Chinese":               "复现步骤：打开页面\n期望结果：7\n实际结果：6\n",
		"Chinese, in one line":  "步骤：打开页面，期望：7，实际：6",
		"Chinese, free":         "调用 `Position(\"x\")` 返回 6，应该是 7",
		"Japanese":              "再現手順：ページを開く\n期待する結果：7\n実際の結果：6\n",
		"Korean":                "재현 단계: 페이지 열기\n기대 결과: 7\n실제 결과: 6\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := analyse(t, brain.Assignment{Issue: instance.Issue{Title: "Position", Body: body}})
			if len(r.Questions) != 0 || r.Data["kind"] != "bug" {
				t.Errorf("as a %s it asks %q; found %s", r.Data["kind"], r.Questions, r.Data["found"])
			}
		})
	}
}

func TestAReportIsAskedAboutInItsLanguage(t *testing.T) {
	for name, c := range map[string]struct{ title, body, label, comment string }{
		"German":     {"Summe falsch", "Die Summe auf der Rechnung ist nicht richtig, bitte ansehen.", "Was passiert", "Um daran zu arbeiten"},
		"Spanish":    {"El total está mal", "El total de la factura no es correcto, por favor.", "Qué pasa", "Para trabajar en esto"},
		"Portuguese": {"Total errado", "O total da fatura não está certo para mim.", "O que acontece", "Para trabalhar nisto"},
		"French":     {"Total faux", "Le total de la facture n'est pas correct pour nous.", "Ce qui se passe", "Pour travailler"},
		"Italian":    {"Totale sbagliato", "Il totale della fattura non è giusto per me.", "Cosa succede", "Per lavorarci"},
		"Russian":    {"Неверная сумма", "Сумма в счёте неправильная.", "Что происходит", "Чтобы работать"},
		"Chinese":    {"总额不对", "发票上的总额不对，请看一下。", "实际结果", "为了处理这个问题"},
		"Japanese":   {"合計が違う", "請求書の合計が違います。", "実際の結果", "作業のために"},
		"Korean":     {"합계가 틀림", "청구서의 합계가 맞지 않습니다.", "실제 결과", "작업을 위해"},
		"English":    {"Total wrong", "The total is not right, please have a look.", "What happens", "To work on this"},
	} {
		t.Run(name, func(t *testing.T) {
			a := brain.Assignment{Issue: instance.Issue{Title: c.title, Body: c.body}}
			r := analyse(t, a)
			if len(r.Questions) != 3 || labels(r.Questions)[0] != c.label {
				t.Fatalf("it asks %q", r.Questions)
			}
			for i, text := range r.Questions {
				a.Questions = append(a.Questions, instance.Question{Number: i + 1, From: "analyst", Text: text})
			}
			if said := rules.Questions(a); !strings.HasPrefix(said, c.comment) || !strings.Contains(said, "`Q1:`") {
				t.Errorf("the comment is\n%s", said)
			}
			for i, text := range []string{"6", "7", "Position(x)"} {
				a.Questions[i].Answered, a.Questions[i].Answer = true, text
			}
			if r := analyse(t, a); r.ConfidenceScore < threshold || len(r.Questions) != 0 {
				t.Errorf("with the answers: confidence %v, %s", r.ConfidenceScore, r.Summary)
			}
		})
	}
}

func TestTheFirstCommentSaysWhatTheReportHas(t *testing.T) {
	a := brain.Assignment{Issue: instance.Issue{Title: "Zeilen fehlen", Body: "Beim Öffnen der Seite `Liste` ist nicht alles da."}}
	r := analyse(t, a)
	a.Last = &r
	a.Questions = []instance.Question{{Number: 1, Text: r.Questions[0]}}
	if got := rules.Questions(a); !strings.Contains(got, "Aus dem Bericht habe ich: Schritte, Wo.") {
		t.Errorf("the comment is\n%s", got)
	}
}

func TestAQuestionForHelpIsLeftToPeople(t *testing.T) {
	for _, title := range []string{"How do I use ParseEnv?", "Question: which version of Go is needed?", "How to configure two outputs", "Is it possible to run it twice?",
		"Wie kann ich zwei Ausgaben einstellen?", "¿Cómo puedo usar ParseEnv?", "Comment faire pour avoir deux sorties ?", "如何使用 ParseEnv？", "Как использовать ParseEnv?"} {
		r := analyse(t, brain.Assignment{Issue: instance.Issue{Title: title, Body: "I read the page and found nothing."}})
		if r.Status != instance.Blocked || len(r.Questions) != 0 || !strings.Contains(r.Summary, "left to people") {
			t.Errorf("%q: %s, asks %q: %s", title, r.Status, r.Questions, r.Summary)
		}
	}
	for title, kind := range map[string]string{
		"How can ParseEnv return the wrong value?": "bug", "Can you add a dark mode?": "feature", "How do I see the error? It crashes": "bug",
		"Question mark in names is lost": "bug",
	} {
		if r := analyse(t, brain.Assignment{Issue: instance.Issue{Title: title}}); r.Data["kind"] != kind {
			t.Errorf("%q is a %s, want a %s", title, r.Data["kind"], kind)
		}
	}
	a := brain.Assignment{Issue: instance.Issue{Title: "How do I use ParseEnv?"}}
	a.Notes = []instance.NoteEntry{{Author: "ann", Kind: "commented", Text: "Please add an option for that: `--env FILE` should read the file."}}
	if r := analyse(t, a); r.Status == instance.Blocked {
		t.Errorf("it is left to people though they say what to change: %s", r.Summary)
	}
}

func TestWhatIsNoInformationIsNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		issue   instance.Issue
		missing string
	}{
		"a picture is no place": {instance.Issue{Title: "pls fix ASAP", Body: "![shot](https://example.com/a.png)\n<img src=\"https://example.com/b.png\">"}, "where"},
		"a wish is no end":      {instance.Issue{Title: "Feature request: dark mode", Body: "Would be nice."}, "done when"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := analyse(t, brain.Assignment{Issue: c.issue}); !strings.Contains(r.Data["missing"], c.missing) {
				t.Errorf("found %s, missing %s", r.Data["found"], r.Data["missing"])
			}
		})
	}
}

func TestOnlyWhatNamesQuotesOrFollowsItsQuestionIsAnAnswer(t *testing.T) {
	four := append(three(), instance.Question{Number: 4, From: "analyst", Text: "**Where.** Where is it?"})
	four[2].Text = "**What happens.** What exactly happens?"
	leaves := "Just go ahead with what you have."
	answer := func(n int, text string) []instance.QuestionAnswer {
		return []instance.QuestionAnswer{{Question: n, Text: text}}
	}
	for name, c := range map[string]struct {
		body    string
		follows bool
		want    []instance.QuestionAnswer
	}{
		"a command as code":             {"see `/signalbox pause` please", true, nil},
		"a command in a block":          {"```\n/signalbox pause\n```", true, nil},
		"later, with a file":            {"By the way, `cart.go` was changed by Eve.", false, nil},
		"later, by its name":            {"Q4: `cart.go`", false, answer(4, "`cart.go`")},
		"later, by its label":           {"Where: `cart.go`", false, answer(4, "`cart.go`")},
		"later, by its label in German": {"Wo: `cart.go`", false, answer(4, "`cart.go`")},
		"later, in as many paragraphs":  {"one\n\ntwo\n\nthree\n\nfour", false, nil},
		"later, who leaves it to us": {leaves, false, []instance.QuestionAnswer{{Question: 1, Text: leaves}, {Question: 2, Text: leaves},
			{Question: 3, Text: leaves}, {Question: 4, Text: leaves}}},
		"first, with what one asks for": {"It is on the checkout page.", true, answer(4, "It is on the checkout page.")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, rules.ParseAnswers(c.body, four, c.follows)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
