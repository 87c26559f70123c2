package service

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// Logging are the flags of the log.
type Logging struct {
	Level  string `name:"log-level" group:"Logs" enum:"debug,info,warn,error" default:"info" help:"The least that is logged: ${enum}."`
	Format string `name:"log-format" group:"Logs" enum:"auto,text,json" default:"auto" help:"How it is written: ${enum}; auto is text on a terminal and JSON elsewhere."`
}

// Logger returns a logger that writes to w: text for people, in colour if w is a
// terminal and NO_COLOR is not set, or JSON, one object per line.
func (l Logging) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		level = slog.LevelInfo // the zero Logging
	}
	terminal := isTerminal(w)
	if l.Format == "text" || l.Format != "json" && terminal {
		return slog.New(tint.NewTextHandler(w, &tint.Options{
			Level:      level,
			TimeFormat: time.TimeOnly,
			NoColor:    !terminal || os.Getenv("NO_COLOR") != "",
		}))
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
