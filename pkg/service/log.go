package service

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// Logging are the flags of the log.
type Logging struct {
	Level  string `name:"log-level" group:"Logs" enum:"debug,info,warn,error" default:"info" help:"The least that is logged: ${enum}."`
	Format string `name:"log-format" group:"Logs" enum:"auto,text,json" default:"auto" help:"How it is written: ${enum}; auto is text on a terminal and JSON elsewhere."`
}

// Logger returns a logger that writes to w. It writes text for people, in colour if w is a
// terminal and NO_COLOR is not set, or JSON, one object per line.
func (l Logging) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		level = slog.LevelInfo // the zero Logging
	}
	terminal := isTerminal(w)
	if l.Format == "text" || l.Format != "json" && terminal {
		return slog.New(textHandler(w, level, terminal))
	}
	return slog.New(slog.NewJSONHandler(printable{w}, &slog.HandlerOptions{Level: level, ReplaceAttr: durations}))
}

// printable writes JSON in which each character shows. Texts of strangers are in it, and people
// read it on terminals: U+009B begins a command there, U+202E turns the line around.
type printable struct{ io.Writer }

// Write implements io.Writer.
func (p printable) Write(line []byte) (int, error) {
	shown := make([]byte, 0, len(line))
	for _, r := range string(line) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			shown = utf8.AppendRune(shown, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			shown = fmt.Appendf(shown, `\u%04x\u%04x`, high, low)
		default:
			shown = fmt.Appendf(shown, `\u%04x`, r)
		}
	}
	if _, err := p.Writer.Write(shown); err != nil {
		return 0, err
	}
	return len(line), nil
}

// durations writes a duration as 1.5s, not in nanoseconds.
func durations(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// textHandler returns a handler that writes text. On a terminal it writes no control
// characters but those of its own colours.
func textHandler(w io.Writer, level slog.Level, terminal bool) slog.Handler {
	options := tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !terminal || os.Getenv("NO_COLOR") != ""}
	if terminal {
		options.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
			_, level := a.Value.Any().(slog.Level)
			if kind := a.Value.Kind(); !level && (kind == slog.KindString || kind == slog.KindAny) {
				text := sanitize.Terminal(fmt.Sprintf("%+v", a.Value.Any()))
				if a.Key == slog.MessageKey { // tint does not quote it
					text = strings.ReplaceAll(text, "\n", " ")
				}
				// tint takes a quoted \x1b for an escape that it quoted itself.
				a.Value = slog.StringValue(strings.ReplaceAll(text, `\x1b`, `\x1B`))
			}
			return a
		}
	}
	return tint.NewTextHandler(w, &options)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
