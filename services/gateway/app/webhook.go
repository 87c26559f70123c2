package app

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// Webhook is the flags of the server that the forge's webhooks deliver to.
type Webhook struct {
	Addr       string `name:"webhook" placeholder:"HOST:PORT" help:"Take deliveries of the forge's webhooks here; the forge then is asked for changes less often. Empty: it is asked only."`
	Secret     string `name:"webhook-secret" env:"SIGNALBOX_WEBHOOK_SECRET,GITHUB_APP_WEBHOOK_SECRET,GITHUB_WEBHOOK_SECRET" placeholder:"SECRET" help:"Secret that signs deliveries; better given by file or environment than on the command line."`
	SecretFile string `name:"webhook-secret-file" type:"existingfile" placeholder:"FILE" help:"File of the secrets, one a line, each of them valid, so that one can be replaced. It is read again for each delivery."`
	Cert       string `name:"webhook-cert" type:"existingfile" placeholder:"FILE" help:"Certificate of --webhook, in PEM: it is served by TLS. It is read again for each connection."`
	Key        string `name:"webhook-key" type:"existingfile" placeholder:"FILE" help:"Key of --webhook-cert."`
	Plain      bool   `name:"webhook-plain" help:"Serve --webhook beyond this machine without TLS, too: behind a proxy that has it."`
}

// The limits of one delivery.
const (
	maxDelivery    = 25 << 20               // bytes; GitHub sends no larger ones
	maxKept        = 5 << 20                // bytes of a delivery that are read and not only checked
	deliveryRead   = 10 * time.Second       // for its body
	deliveryStored = 900 * time.Millisecond // for the log's acknowledgement
	deliveryPart   = time.Second            // for its first KiB, and for each part after that
	firstPart      = 1 << 10                // bytes
	part           = 32 << 10               // bytes
	maxReading     = 64                     // bodies at a time
	maxFrom        = 16                     // of those, from one address
	packed         = 128 << 10              // bytes from which on a body is kept compressed
)

// webhook keeps each delivery in JetStream before it answers. It reads nothing of the
// content.
type webhook struct {
	js      jetstream.JetStream
	secrets *secrets
	taken   *prometheus.CounterVec
	log     *slog.Logger
	reading places
	refused pacing.Seldom[int] // by status
}

// listenWebhook returns the listener and the server of the flags.
func (f Webhook) listenWebhook(h *service.Host, js jetstream.JetStream, taken *prometheus.CounterVec) (net.Listener, *http.Server, error) {
	if err := service.CheckAddress("--webhook", f.Addr); err != nil {
		return nil, nil, err
	}
	secrets := &secrets{given: f.Secret, file: f.SecretFile, log: h.Log}
	all, err := secrets.readAll()
	if err != nil {
		return nil, nil, service.Usagef("--webhook: %w", err)
	}
	secrets.good = all
	l, err := httpserver.Listen(f.Addr, httpserver.Security{Cert: f.Cert, Key: f.Key, Token: all[0], Plain: f.Plain})
	switch {
	case errors.Is(err, httpserver.ErrExposed):
		return nil, nil, service.Usagef("--webhook %s is reached from other machines without TLS: give it --webhook-cert and --webhook-key, "+
			"or a loopback address; --webhook-plain takes the responsibility", f.Addr)
	case errors.Is(err, httpserver.ErrSecurity):
		return nil, nil, service.Usagef("--webhook-cert, --webhook-key: %w", err)
	case err != nil:
		return nil, nil, fmt.Errorf("--webhook %s: %w", f.Addr, err)
	}
	w := &webhook{js: js, secrets: secrets, taken: taken, log: h.Log}
	return l, httpserver.New(w, httpserver.NewRefusals(h.Log, h.Refused.At("webhook")), httpserver.AnyName), nil // a signature is no browser's: any name may lead here
}

// Target returns the address where a forge in this process delivers to, and the secret
// that it signs with.
func (f Webhook) Target() (address, secret string, err error) {
	host, port, err := net.SplitHostPort(f.Addr)
	if err != nil || port == "0" {
		return "", "", service.Usagef("--webhook %s: want HOST:PORT, with a port, for the local forge to deliver to", f.Addr)
	}
	all, err := (&secrets{given: f.Secret, file: f.SecretFile}).readAll()
	if err != nil {
		return "", "", service.Usagef("--webhook: %w", err)
	}
	if ip, wrong := netip.ParseAddr(host); host == "" || wrong == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if f.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/", all[0], nil
}

// serveWebhook serves until ctx ends.
func serveWebhook(ctx context.Context, l net.Listener, server *http.Server) error {
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("webhooks: %w", err)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (w *webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	event := r.Header.Get("X-GitHub-Event")
	status, why := w.accept(rw, r)
	if status != http.StatusAccepted {
		if more, now := w.refused.Note(status, time.Now()); now {
			w.log.Warn("delivery refused", "status", status, "why", why, "event", fmt.Sprintf("%.64q", event),
				"delivery", fmt.Sprintf("%.64q", r.Header.Get("X-GitHub-Delivery")), "from", r.RemoteAddr, "not_logged_before", more)
		}
		event = "" // a stranger's words are no label of a metric
		// The server reads the rest of the body before it answers: of a half one it would wait.
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(deliveryPart))
	}
	w.taken.WithLabelValues(event, http.StatusText(status)).Inc()
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	rw.WriteHeader(status)
	_, _ = fmt.Fprintln(rw, why)
}

// accept returns the status of the answer to a delivery, and its text.
func (w *webhook) accept(rw http.ResponseWriter, r *http.Request) (status int, why string) {
	if r.Method != http.MethodPost {
		rw.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "webhooks are delivered by POST"
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "want the content type application/json: it is a setting of the webhook"
	}
	to, err := subject.Delivery(r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery"))
	if err != nil {
		return http.StatusBadRequest, "want the headers X-GitHub-Event and X-GitHub-Delivery"
	}
	given, ok := signature(r.Header.Get("X-Hub-Signature-256"))
	if !ok {
		return http.StatusUnauthorized, "want the header X-Hub-Signature-256: sha256= and 64 hexadecimal digits"
	}
	if r.ContentLength > maxDelivery {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("a delivery has at most %d bytes", maxDelivery)
	}
	from := address(r.RemoteAddr)
	if !w.reading.take(from) {
		return http.StatusServiceUnavailable, "too many deliveries at a time: deliver it again"
	}
	macs := w.secrets.macs()
	body, err := readBody(rw, r, macs)
	w.reading.free(from) // a sender that signs has no limit: a forge behind a proxy has one address
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("a delivery has at most %d bytes", large.Limit)
	} else if err != nil {
		return http.StatusBadRequest, "the body ends early, or comes slowly"
	}
	if !signs(macs, given) {
		return http.StatusUnauthorized, "X-Hub-Signature-256 is of none of the secrets"
	}
	if len(body) > maxKept {
		if body, ok = outline(body[:maxKept]); !ok {
			return http.StatusRequestEntityTooLarge, fmt.Sprintf("of a delivery above %d bytes the first have to name the repository", maxKept)
		}
	}
	if err := w.store(r.Context(), to, r.Header.Get("X-GitHub-Delivery"), body); err != nil {
		w.log.Warn("a delivery is not kept, the forge has to deliver it again", "error", err)
		return http.StatusServiceUnavailable, "it cannot be kept now: deliver it again"
	}
	return http.StatusAccepted, "kept"
}

// store puts a delivery into JetStream. One that is there is not put there again.
func (w *webhook) store(ctx context.Context, to, id string, body []byte) error {
	m := nats.NewMsg(to)
	m.Data = body
	if len(body) >= packed {
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, err := z.Write(body)
		if err := cmp.Or(err, z.Close()); err != nil {
			return err
		}
		m.Data = small.Bytes()
		m.Header.Set("Content-Encoding", "gzip")
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryStored)
	defer cancel()
	_, err := w.js.PublishMsg(ctx, m, jetstream.WithMsgID(id))
	return err
}

// unpacked returns the body of a delivery as it was delivered.
func unpacked(header nats.Header, data []byte) ([]byte, error) {
	if header.Get("Content-Encoding") != "gzip" {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxKept+1))
}
