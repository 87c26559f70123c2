package app

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The most characters of a title and of a text, and the most bytes of one that are looked at.
const (
	maxTitle = 200
	maxText  = 1000
	maxRead  = 16 << 10
)

// notification is what a target gets. Its texts are harmless, and have no credentials.
type notification struct {
	ID string    `json:"-"` // the same each time that it is delivered
	At time.Time `json:"-"`

	Event      string `json:"event"`
	Instance   string `json:"instance"`
	Workflow   string `json:"workflow"`
	State      string `json:"state"`
	Repository string `json:"repository,omitempty"`
	Issue      int    `json:"issue,omitempty"`
	Title      string `json:"title"`
	Text       string `json:"text,omitempty"`
	URL        string `json:"url,omitempty"`     // of the issue
	Console    string `json:"console,omitempty"` // of the instance's page
}

// writer makes notifications.
type writer struct {
	secrets *secret.Scanner
	console string // address of the console; empty: there is none
}

// write returns the notification of a fact of the commit with the sequence seq.
func (w writer) write(f fact, seq uint64, at time.Time, in *pb.Instance) notification {
	issue := wire.ToIssue(in.GetIssue())
	named := instance.Instance{ID: in.GetInstance(), Issue: issue}
	n := notification{
		ID: cmp.Or(f.shared, fmt.Sprintf("%d.%d", seq, f.index)), At: at.UTC(), Event: f.events[0],
		Instance: in.GetInstance(), Workflow: in.GetWorkflow(), State: in.GetState(),
		Repository: named.Repo(), Issue: issue.Number,
		Title: cut(sanitize.Subject(w.clean(issue.Title)), maxTitle),
		Text:  cut(strings.TrimSpace(sanitize.Message(w.clean(f.text))), maxText),
	}
	if at, err := url.Parse(issue.URL); err == nil && (at.Scheme == "https" || at.Scheme == "http") {
		n.URL = at.String()
	}
	if w.console != "" {
		n.Console = strings.TrimSuffix(w.console, "/") + (&url.URL{Path: "/i/" + n.Instance}).String()
	}
	return n
}

// clean returns a text without credentials.
func (w writer) clean(s string) string {
	return w.secrets.Redact(strings.ToValidUTF8(s[:min(len(s), maxRead)], ""))
}

func cut(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// heading says for people what the notification is about.
func (n notification) heading() string {
	return map[string]string{Waits: "Waits for you", Failed: "Ended without success", Completed: "Ended with success",
		Budget: "A budget is spent", Unproven: "Ended, unproven"}[n.Event] + ": " + cmp.Or(n.Title, n.Instance)
}

// plain returns the notification as the text of a chat. Of the texts of others no chat makes
// a mention, a link behind other words or a preview.
func (n notification) plain() string {
	harmless := strings.NewReplacer("<", "‹", ">", "›", "[", "(", "]", ")", "://", ": //")
	lines := []string{harmless.Replace(n.heading()), harmless.Replace(n.Instance + ", in " + n.State)}
	if n.Text != "" {
		lines = append(lines, harmless.Replace(n.Text))
	}
	if link := cmp.Or(n.Console, n.URL); link != "" {
		lines = append(lines, link)
	}
	return strings.Join(lines, "\n")
}
