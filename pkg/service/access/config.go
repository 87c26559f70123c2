package access

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Credential is a public NKey of a party.
type Credential struct {
	Party
	Key string `json:"key"`
}

// streamed reports whether a request gets more than one reply.
func streamed(export string) bool {
	_, published, _ := subject.ParseFrom(export)
	return strings.HasPrefix(published, "sb.api.agent.") || strings.HasPrefix(export, "$JS.API.CONSUMER.MSG.NEXT") ||
		strings.HasPrefix(export, "$JS.API.DIRECT.GET") || export == "$JS.API.>"
}

// threshold returns how long the server remembers where to send replies of a request that
// gets several. It cannot know the last one. The orchestrator replies within seconds; at
// two minutes, the server's own value, a busy system would have it remember a million.
func threshold(export string) string {
	if _, _, err := subject.ParseFrom(export); err == nil {
		return "20s"
	}
	return ""
}

// account is what the configuration says of one account.
type account struct {
	Name    string
	System  bool
	Keys    []string
	Imports []Import
	Exports []export // those of services, then those of streams
}

// export is what an account serves or publishes, and the accounts that import it. Others
// cannot.
type export struct {
	Subject string
	Stream  bool
	To      []string
}

// Config returns the accounts section of a nats-server configuration for the
// credentials. An account may have several keys: that is how a key is replaced without
// an interruption.
func Config(credentials []Credential) (string, error) {
	accounts := map[string]*account{System: {Name: System, System: true, Imports: Party{Kind: Orchestrator}.Imports()}}
	for _, c := range credentials {
		if err := c.Check(); err != nil {
			return "", err
		}
		name := c.Account()
		if accounts[name] == nil {
			accounts[name] = &account{Name: name, Imports: c.Imports()}
		}
		accounts[name].Keys = append(accounts[name].Keys, c.Key)
	}
	own, err := subject.From(System, subject.APIs)
	if err != nil {
		return "", err
	}
	look(credentials, accounts)
	speak(credentials, accounts)
	var all []*account
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		a := accounts[name]
		a.Imports = slices.DeleteFunc(a.Imports, func(i Import) bool { return i.From != "" && accounts[i.From] == nil })
		for _, i := range a.Imports {
			accounts[cmp.Or(i.From, System)].export(i, name)
		}
		all = append(all, a)
	}
	for _, a := range all {
		slices.SortFunc(a.Exports, func(x, y export) int { return strings.Compare(x.Subject, y.Subject) })
	}
	text, err := template.New("accounts").Funcs(template.FuncMap{"streamed": streamed, "threshold": threshold}).Parse(layout)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = text.Execute(&b, struct {
		System, APIs, Own string
		Accounts          []*account
	}{System, subject.APIs, own, all})
	return b.String(), err
}

// look lets people, the console, and the orchestrator's own account, ask the agents of each role for the output of their work. An agent answers
// under its own role alone: what it subscribes to in its account, nobody reaches but by that import.
func look(credentials []Credential, accounts map[string]*account) {
	for _, agent := range credentials {
		lives, err := subject.LivesOf(agent.Name)
		if agent.Kind != Agent || err != nil {
			continue
		}
		for _, c := range slices.Concat(credentials, []Credential{{Party: Party{Kind: Orchestrator}}}) {
			to, i := accounts[c.Account()], Import{Subject: lives, From: agent.Account()}
			if (c.Person() || c.Kind == Console || c.Kind == Orchestrator) && !slices.Contains(to.Imports, i) {
				to.Imports = append(to.Imports, i)
			}
		}
	}
}

// speak lets the console ask as each person with a key: the orchestrator gets the request as one of that person's account. The
// console can name no person and no right that is not here.
func speak(credentials []Credential, accounts map[string]*account) {
	console := accounts[string(Console)]
	for _, c := range credentials {
		i := Import{Subject: c.request("sb.api.*").Subject}
		if console != nil && c.Person() && !slices.Contains(console.Imports, i) {
			console.Imports = append(console.Imports, i)
		}
	}
}

// export adds an account to those that import i of a.
func (a *account) export(i Import, to string) {
	at := slices.IndexFunc(a.Exports, func(e export) bool { return e.Subject == i.Subject && e.Stream == i.Stream })
	if at < 0 {
		at, a.Exports = len(a.Exports), append(a.Exports, export{Subject: i.Subject, Stream: i.Stream})
	}
	a.Exports[at].To = append(a.Exports[at].To, to)
}

// layout is the template of the configuration. The mapping of System has its own requests
// arrive as those of other accounts do: on a subject with the account's name. So a service
// that reads the account from the subject takes none from a server without the mapping.
const layout = `# Written by "signalbox auth"; changes made here are lost.
accounts {
{{- range .Accounts}}
  "{{.Name}}" {
    users: [{{range $i, $key := .Keys}}{{if $i}}, {{end}}{nkey: {{$key}}}{{end}}]
{{- if .System}}
    jetstream: enabled
    mappings: { "{{$.APIs}}": "{{$.Own}}" }
{{- end}}
{{- if .Exports}}
    exports: [
{{- range .Exports}}
      { {{- if .Stream}}stream{{else}}service{{end}}: "{{.Subject}}"
      {{- if and (not .Stream) (streamed .Subject)}}, response_type: stream{{with threshold .Subject}}, response_threshold: "{{.}}"{{end}}{{end}}, accounts: [
      {{- range $i, $to := .To}}{{if $i}}, {{end}}"{{$to}}"{{end}}]}
{{- end}}
    ]
{{- end}}
{{- if .Imports}}
    imports: [
{{- range .Imports}}
      { {{- if .Stream}}stream{{else}}service{{end}}: {account: "{{or .From $.System}}", subject: "{{.Subject}}"}{{if .Local}}, to: "{{.Local}}"{{end}}}
{{- end}}
    ]
{{- end}}
  }
{{- end}}
}
`
