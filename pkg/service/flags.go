package service

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Flags are the flags of every service. A Program embeds it.
type Flags struct {
	NATS
	Logging

	Name          string           `name:"name" group:"Service" placeholder:"TEXT" help:"Name of this process for others. Default: service, host and process id."`
	HTTP          string           `name:"http" group:"Service" placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Where /metrics, /healthz and /readyz are served; port 0 takes a free one and logs it, an empty value serves nothing; ${default} by default."`
	HTTPCert      string           `name:"http-cert" group:"Service" type:"existingfile" placeholder:"FILE" help:"Certificate of --http, in PEM: it is served by TLS. It is read again for each connection."`
	HTTPKey       string           `name:"http-key" group:"Service" type:"existingfile" placeholder:"FILE" help:"Key of --http-cert."`
	HTTPTokenFile string           `name:"http-token-file" group:"Service" type:"existingfile" placeholder:"FILE" help:"File of the token that /metrics wants, as a bearer token."`
	HTTPPlain     bool             `name:"http-plain" group:"Service" help:"Serve --http beyond this machine without TLS or token, too: anyone who reaches it reads the metrics."`
	Grace         time.Duration    `name:"grace" group:"Service" default:"30s" help:"How long work under way may take to end after SIGINT or SIGTERM. A second signal ends the process at once."`
	Config        kong.ConfigFlag  `name:"config" group:"Service" placeholder:"FILE" help:"YAML or JSON file of flag names and values. Flags and environment variables win over it."`
	Healthcheck   bool             `name:"healthcheck" group:"Service" env:"-" help:"Ask the service already running at --http whether it is ready, and exit with 0; 1 if nothing runs there, 5 if it is cut off from NATS, 4 if it is not ready for another reason."`
	Version       kong.VersionFlag `name:"version" group:"Service" env:"-" help:"Show the version and exit."`
}

// Common implements Program.
func (f *Flags) Common() *Flags { return f }

// name returns the name of the process.
func (f Flags) name(service string) string {
	if f.Name != "" {
		return f.Name
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	host, _, _ = strings.Cut(host, ".")
	return service + "-" + host + "-" + strconv.Itoa(os.Getpid())
}
