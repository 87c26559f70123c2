// Package term is the terminal of a command: its streams, tables, colours and JSON
// output.
package term

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/signalbox/signalbox/pkg/service"
)

// Env is the environment of one command.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer // for the result
	Stderr io.Writer // everything else

	Person   bool // Stdin is a terminal, so that a person can be asked
	Terminal bool // Stdout is a terminal
	Colour   bool // Stdout is a terminal and NO_COLOR is not set
	Clock    bool // Stderr is a terminal, on which a line can be written over
	Width    int  // of the terminal in characters; 0: lines may be of any length
	JSON     bool // Stdout gets JSON, one object a line

	Logging service.Logging
	Log     *slog.Logger // to Stderr, as Logging says
	NATS    service.NATS // the running system
	User    string       // the caller, as in the log: "operator:ann"
	Now     func() time.Time

	lines *bufio.Reader // over Stdin, once it is read by lines
	read  chan line     // of a read that goes on
}

// System returns the Env of the process. Flags are not parsed yet.
func System() Env {
	e := Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, User: operator(), Now: time.Now}
	e.Person = isatty.IsTerminal(os.Stdin.Fd())
	e.Terminal = isatty.IsTerminal(os.Stdout.Fd())
	e.Clock = isatty.IsTerminal(os.Stderr.Fd()) && os.Getenv("TERM") != "dumb"
	e.Colour = e.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	e.Width = width(e.Terminal)
	e.Log = e.Logging.Logger(e.Stderr)
	return e
}

// width returns COLUMNS, or that of the terminal on standard output.
func width(terminal bool) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if !terminal {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

func operator() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if login := os.Getenv(name); login != "" {
			return "operator:" + login
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return "operator:" + u.Username
	}
	return "operator:unknown"
}

// Printf writes to Stdout.
func (e *Env) Printf(format string, args ...any) { fmt.Fprintf(e.Stdout, format, args...) }

// Print writes v as JSON on one line.
func (e *Env) Print(v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := e.Stdout.Write(JSON(line.Bytes()))
	return err
}

// Since formats the time since t, "" for the zero time.
func (e *Env) Since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Duration(e.Now().Sub(t))
}
