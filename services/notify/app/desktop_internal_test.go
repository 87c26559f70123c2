package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestATerminalGetsOneCommandWhateverStrangersWrite(t *testing.T) {
	for _, title := range []string{"The sum is wrong", "4;1;50", "a\x07\x1b]0;owned\x07", "\x1b\\", "\u009c\u202e", "a\nb", strings.Repeat("x", 1<<16)} {
		var out bytes.Buffer
		n := writer{}.plainTitle(title)
		if err := (desktop{&out}).send(t.Context(), n, ""); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		inside, began := strings.CutPrefix(text, "\x1b]9;Signalbox: Waits for you: ")
		inside, ended := strings.CutSuffix(inside, "\x07")
		if !began || !ended || strings.ContainsAny(inside, "\x07\x1b\n\u009c\u202e") {
			t.Errorf("%.50q becomes %.200q", title, text)
		}
	}
}

// plainTitle is a notification with a title as it comes.
func (writer) plainTitle(title string) notification {
	return notification{Event: Waits, Title: title, Instance: "acme/widgets/1"}
}

func TestATargetThatTheOperatorHasNotDefinedIsNamedOnce(t *testing.T) {
	var log bytes.Buffer
	n := &notifier{log: slog.New(slog.NewTextHandler(&log, nil)), targets: []target{{name: "team"}, {name: desktopName}}, delivered: map[string]bool{}}
	in := &pb.Instance{Issue: &pb.Issue{Repo: "acme/widgets"}}
	for range 3 {
		n.warn(map[string]string{"team": "waits", "tema": "waits", desktopName: "waits", "x\ny\x1b": "failed"}, in)
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 3 || !strings.Contains(text, "tema") || strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 3 {
		t.Errorf("the log is %s", text)
	}
}
