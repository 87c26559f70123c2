package subject_test

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

func TestTheSubjectOfAnAccountsRequestNamesTheAccount(t *testing.T) {
	for _, c := range [][3]string{
		{"view-vera", "sb.api.open", "sb.in.view-vera.api.open"},
		{"agent-developer", "sb.api.agent.developer.report", "sb.in.agent-developer.api.agent.developer.report"},
		{"signalbox", "sb.api.>", "sb.in.signalbox.api.>"},
	} {
		got, err := subject.From(c[0], c[1])
		if err != nil || got != c[2] {
			t.Errorf("got %s, %v, want %s", got, err, c[2])
		}
		if account, published, err := subject.ParseFrom(got); err != nil || account != c[0] || published != c[1] {
			t.Errorf("%s is of %s, published on %s, %v", got, account, published, err)
		}
	}
	if got, err := subject.From("*", "sb.api.open"); err != nil || got != "sb.in.*.api.open" {
		t.Error(got, err)
	}
}

func TestASubjectWithoutAnAccountIsOfNobody(t *testing.T) {
	for _, s := range []string{
		"", "sb.api.open", "sb.in", "sb.in.", "sb.in.view-vera", "sb.in.view-vera.", "sb.in..api.open", "sb.in.*.api.open",
		"sb.in.>", "sb.in.View.api.open", "sb.in.view vera.api.open", "sbin.a.b", "sb.in.a\nb.c",
	} {
		if account, _, err := subject.ParseFrom(s); !errors.Is(err, subject.ErrInvalid) {
			t.Errorf("%q is of %q, %v", s, account, err)
		}
	}
	for _, c := range [][2]string{{"view.vera", "sb.api.open"}, {"", "sb.api.open"}, {">", "sb.api.open"}, {"a", "$JS.API.INFO"}} {
		if s, err := subject.From(c[0], c[1]); !errors.Is(err, subject.ErrInvalid) {
			t.Errorf("%q: %q, %v", c, s, err)
		}
	}
}
