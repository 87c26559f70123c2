package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/pacing"
)

// logger is the server's log. Its notices are logged at debug, and so are warnings that mean
// nothing: after a kill the server reads its streams again.
type logger struct {
	log     *slog.Logger
	stop    *stop
	refused func(why string)       // gets the kind of each line about a client
	clients *pacing.Seldom[string] // lines about clients, by kind
}

func (l logger) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Tracef(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Fatalf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }

func (l logger) Warnf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	if l.stop.note(line) || rebuilds(line) {
		l.log.Debug(line)
		return
	}
	l.log.Warn(line)
}

func (l logger) Errorf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	if l.stop.note(line) {
		l.log.Debug(line)
		return
	}
	if kind, ok := ofClient(line); ok {
		l.refused(kind)
		more, now := l.clients.Note(kind, time.Now())
		if !now {
			return
		}
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + "…"
		}
		l.log.Error(line, "not_logged_before", more)
		return
	}
	l.log.Error(line)
}

// maxLine limits the bytes of a line about a client, which may choose its user's name.
const maxLine = 300

// client matches the beginning of a line about a client's connection, and the server's own
// words after that.
var client = lazyregexp.New(`^\S+ - cid:\d+ - ([A-Za-z ]+)`)

// ofClient returns the kind of a line about a client. Anybody who reaches the port causes such
// lines, as often as they like.
func ofClient(line string) (kind string, ok bool) {
	m := client.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return strings.TrimSpace(m[1]), true
}

// rebuilds reports whether a warning says only that an index is made again.
func rebuilds(line string) bool {
	return strings.Contains(line, "Stream state outdated") || strings.Contains(line, "Recovering stream state from index errored")
}
