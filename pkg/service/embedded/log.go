package embedded

import (
	"fmt"
	"log/slog"
	"strings"
)

// logger is the server's log. Its notices are logged at debug, and so are warnings that mean
// nothing: after a kill the server reads its streams again.
type logger struct {
	log  *slog.Logger
	stop *stop
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
	l.log.Error(line)
}

// rebuilds reports whether a warning says only that an index is made again.
func rebuilds(line string) bool {
	return strings.Contains(line, "Stream state outdated") || strings.Contains(line, "Recovering stream state from index errored")
}
