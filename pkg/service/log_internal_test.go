package service

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

type named struct{ Name string }

func TestALogOnATerminalHasNoEscapesOfOthers(t *testing.T) {
	for name, hostile := range map[string]string{
		"colour": "a \x1b[31;1mred", "title": "\x1b]0;title\a", "bell": "a\ab", "C1": "\u009b31m", "direction": "abc\u202edcba",
		"return": "a\rb", "an escape that is spelled": `a \x1b]0;title\a`,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(textHandler(&out, slog.LevelInfo, true))
			log.With("title", hostile).WithGroup("g").Info("said "+hostile, "text", hostile, "error", errors.New(hostile), "any", named{hostile}, "list", []string{hostile})
			// An escape of others that is a colour is not taken for one of ours.
			line := strings.TrimSuffix(regexp.MustCompile(`\x1b\[(?:0|2|92|22|2;91|91)m`).ReplaceAllString(out.String(), ""), "\n")
			if i := strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' }); i >= 0 {
				t.Errorf("the line has %q: %q", line[i:], out.String())
			}
			if !strings.Contains(out.String(), "\x1b[92mINF\x1b[0m") {
				t.Errorf("the level is not coloured: %q", out.String())
			}
		})
	}
}

func TestOrdinaryTextIsLoggedOnATerminalAsItIs(t *testing.T) {
	var out bytes.Buffer
	slog.New(textHandler(&out, slog.LevelInfo, true)).Info("moved", "state", "implementing", "took", 3, "error", errors.New("no such file"), "name", `C:\x`)
	if got := colours.ReplaceAllString(out.String(), ""); !strings.HasSuffix(got, `INF moved state=implementing took=3 error="no such file" name=C:\x`+"\n") {
		t.Errorf("the line is %q", got)
	}
}
