package access

import (
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/signalbox/signalbox/pkg/subject"
)

// Credential is a public NKey of a party.
type Credential struct {
	Party
	Key string `json:"key"`
}

// streamed reports whether a request gets more than one reply.
func streamed(subject string) bool {
	return strings.HasPrefix(subject, "sb.api.agent.") || strings.HasPrefix(subject, "$JS.API.CONSUMER.MSG.NEXT") ||
		strings.HasPrefix(subject, "$JS.API.DIRECT.GET") || subject == "$JS.API.>"
}

// threshold returns how long the server remembers where to send replies of a request that
// gets several. It cannot know the last one. The orchestrator replies within seconds; at
// two minutes, the server's own value, a busy system would have it remember a million.
func threshold(export string) string {
	if strings.HasPrefix(export, "sb.api.") {
		return "20s"
	}
	return ""
}

// exports covers all that Imports of any party may name.
var exports = []string{
	"sb.api.*", "sb.api.agent.*.*", "sb.hook.*.*",
	"$JS.API.CONSUMER.INFO.DELIVERIES.*", "$JS.API.CONSUMER.MSG.NEXT.DELIVERIES.*",
	"$JS.API.CONSUMER.INFO.EVENTS.*", "$JS.API.CONSUMER.MSG.NEXT.EVENTS.*", "$JS.ACK.>",
	"$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.*", "$JS.API.DIRECT.GET.>", "$JS.API.>", "$O.>", "$KV.>",
}

// published is what System publishes to those that import it.
var published = []string{subject.ForgeLimits}

// account is what the configuration says of one account.
type account struct {
	Name    string
	System  bool
	Keys    []string
	Imports []Import
	Exports []string
	Streams []string
}

// Config returns the accounts section of a nats-server configuration for the
// credentials. An account may have several keys: that is how a key is replaced without
// an interruption.
func Config(credentials []Credential) (string, error) {
	accounts := map[string]*account{System: {Name: System, System: true, Imports: Party{Kind: Orchestrator}.Imports(), Exports: exports, Streams: published}}
	for _, c := range credentials {
		if err := c.Check(); err != nil {
			return "", err
		}
		name := c.Account()
		if accounts[name] == nil {
			accounts[name] = &account{Name: name, Imports: c.Imports(), Exports: c.serves()}
		}
		accounts[name].Keys = append(accounts[name].Keys, c.Key)
	}
	var all []*account
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		a := accounts[name]
		a.Imports = slices.DeleteFunc(a.Imports, func(i Import) bool { return i.From != "" && accounts[i.From] == nil })
		all = append(all, a)
	}
	text, err := template.New("accounts").Funcs(template.FuncMap{"streamed": streamed, "threshold": threshold}).Parse(layout)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = text.Execute(&b, struct {
		System   string
		Accounts []*account
	}{System, all})
	return b.String(), err
}

const layout = `# Written by "signalbox auth"; changes made here are lost.
accounts {
{{- range .Accounts}}
  "{{.Name}}" {
    users: [{{range $i, $key := .Keys}}{{if $i}}, {{end}}{nkey: {{$key}}}{{end}}]
{{- if .System}}
    jetstream: enabled
{{- end}}
{{- if .Exports}}
    exports: [
{{- range .Exports}}
      {service: "{{.}}"{{if streamed .}}, response_type: stream{{with threshold .}}, response_threshold: "{{.}}"{{end}}{{end}}}
{{- end}}
{{- range .Streams}}
      {stream: "{{.}}"}
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
