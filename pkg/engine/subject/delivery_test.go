package subject_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

func TestADeliverysSubjectNamesItsEventAndItsID(t *testing.T) {
	s, err := subject.Delivery("issue_comment", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	if err != nil || s != "sb.hook.issue_comment.72d3162e-cc78-11e3-81ab-4c9367dc0958" {
		t.Fatal(s, err)
	}
	if event, id, err := subject.ParseDelivery(s); err != nil || event != "issue_comment" || id != "72d3162e-cc78-11e3-81ab-4c9367dc0958" {
		t.Error(event, id, err)
	}
	if s, err := subject.AnyEvent("72d3"); err != nil || s != "sb.hook.*.72d3" {
		t.Error(s, err)
	}
}

func TestADeliveryOfAnotherShapeHasNoSubject(t *testing.T) {
	for _, c := range [][2]string{
		{"", "a"}, {"push", ""}, {"push.x", "a"}, {"Push", "a"}, {"push", "a.b"}, {"push", "*"}, {"push", ">"}, {"push", "a b"},
		{"push", strings.Repeat("a", 65)}, {strings.Repeat("a", 65), "a"},
	} {
		if s, err := subject.Delivery(c[0], c[1]); !errors.Is(err, subject.ErrInvalid) {
			t.Errorf("%q: %q, %v", c, s, err)
		}
	}
	for _, s := range []string{"sb.hook.push", "sb.hook.push.a.b", "sb.evt.push.a", "sb.hook.*.a", "sb.hook.push.*"} {
		if _, _, err := subject.ParseDelivery(s); !errors.Is(err, subject.ErrInvalid) {
			t.Errorf("%s: %v", s, err)
		}
	}
}
