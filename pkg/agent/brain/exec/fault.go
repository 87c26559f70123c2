package exec

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// trouble is what a coding agent states of its model's service, since the model last said
// something.
type trouble struct {
	status  int       // of HTTP; 0: none stated
	erred   bool      // an error was stated
	retried bool      // it asked once more after one, or states that this may help
	limited bool      // a usage limit is reached
	until   time.Time // when that is over; zero: not stated
}

// hear records that the model said something: what was in the way is not any more.
func (a *answer) hear() {
	a.began, a.trouble = true, trouble{}
}

// again records an error after which the agent asks the model once more.
func (a *answer) again(status int) {
	a.erred, a.retried, a.status = true, true, status
}

// waits reports whether the agent waits for its model.
func (a *answer) waits() bool { return !a.began || a.erred || a.limited }

// passes reports whether a failed run is an infrastructure fault: the model said nothing
// at all, or its service was away. Words decide nothing. An agent that crashed says
// nothing of its model.
func (a *answer) passes(run sandbox.Result) bool {
	switch {
	case run.Signal != "" || crashed(run.ExitCode) && a.status == 0:
		return false
	case a.status >= http.StatusInternalServerError, a.status == http.StatusRequestTimeout, a.status == http.StatusConflict,
		a.status == http.StatusTooEarly, a.status == http.StatusTooManyRequests:
		return true
	}
	return a.limited || a.retried || !a.began
}

// crashed reports whether an exit code is that of a signal of a fault, as a shell passes
// it on.
func crashed(code int) bool {
	const signals, last = 128, 15
	return code > signals && code <= signals+last
}

// outside returns an infrastructure fault, with its end if the agent states one.
func (a *answer) outside(text string) error {
	err := fmt.Errorf("%w: %s", brain.ErrInfrastructure, text)
	if a.until.IsZero() {
		return err
	}
	return &brain.LaterError{Until: a.until, Err: err}
}

// remedy returns what people have to do before the program can work; empty: not known. It follows from a status of HTTP or an exit code.
func (p Program) remedy(run sandbox.Result, said *answer) string {
	switch {
	case p.read == nil:
		return ""
	case said.status == http.StatusUnauthorized:
		return "log in, or give a valid key"
	case said.status == http.StatusPaymentRequired:
		return "pay for the account of this login or key, or give another one"
	case said.status == http.StatusForbidden && len(run.Refused) > 0:
		return "the sandbox lets it not reach its model: name that host with --egress HOST:PORT"
	case said.status == http.StatusForbidden:
		return "let this login or key use the model, or name another model"
	case said.status == http.StatusNotFound:
		return "there is no such model: name another one, or correct the address of its service"
	case said.began:
		return ""
	case p.Exits[run.ExitCode] != "":
		return p.Exits[run.ExitCode]
	case run.ExitCode == usage && !said.spoke:
		return "it does not take its arguments: install a version that does, or correct the flags of the brain"
	}
	return ""
}

// usage is the exit code of a program that does not take its arguments.
const usage = 2

// statusOf returns the status of HTTP that an exit code stands for; 0: none. Gemini exits with
// the status; the system keeps its low eight bits.
func (p Program) statusOf(run sandbox.Result) int {
	const lowest, wrap = 144, 256 // 400 and above
	if !p.ExitsWithStatus || run.ExitCode < lowest || run.TimedOut != "" {
		return 0
	}
	return run.ExitCode + wrap
}

// words returns what is quoted with a failure: the reason that the agent states, else its
// last message and the last lines that are no events.
func (p Program) words(run sandbox.Result, said *answer) string {
	if p.read == nil {
		return tail(run.Output)
	}
	reason := said.reason
	if reason == "" {
		reason = statedError(said.plain.text)
	}
	if reason != "" {
		return ": " + end(reason)
	}
	plain, text := end(said.plain.text), end(said.text)
	switch {
	case text == "" || strings.Contains(plain, text):
		return tail([]byte(plain))
	case plain == "":
		return "; its last words:\n" + text
	}
	return "; its last words:\n" + text + tail([]byte(plain))
}

// printed returns the output for people, without the events of a coding agent.
func (p Program) printed(run sandbox.Result, said *answer) []byte {
	if p.read == nil {
		return run.Output
	}
	return []byte(said.plain.text)
}

// end returns the last lastBytes of a text.
func end(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text[max(len(text)-lastBytes, 0):], ""))
}

// statedError returns the message of an error that a text ends with as a JSON object.
func statedError(text string) string {
	i := strings.LastIndex("\n"+text, "\n{")
	if i < 0 {
		return ""
	}
	var v struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text[i:]), &v) != nil {
		return ""
	}
	return v.Error.Message
}

// plain keeps the last lines that are no events.
type plain struct{ text string }

func (p *plain) add(line []byte) {
	p.text += strings.ToValidUTF8(string(line), "") + "\n"
	if len(p.text) > 2*lastBytes {
		p.text = p.text[len(p.text)-lastBytes:]
	}
}
