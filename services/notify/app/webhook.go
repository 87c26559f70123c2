package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
)

// sender delivers a notification. Its errors have no address: that is a secret.
type sender interface {
	send(ctx context.Context, n notification, source string) error
}

// within is how long one delivery may take.
const within = 10 * time.Second

// webhook delivers CloudEvents 1.0 in structured mode, signed as Standard Webhooks
// (https://www.standardwebhooks.com) says.
type webhook struct {
	url    string
	key    []byte
	client *http.Client
	now    func() time.Time
}

// newWebhook returns the sender to an address. A secret that begins with whsec_ is base64.
func newWebhook(to, secret string, now func() time.Time) (*webhook, error) {
	u, err := address(to)
	if err != nil {
		return nil, err
	}
	key := []byte(secret)
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, errors.New("secret: want base64 after whsec_")
		}
	}
	const least = 24 // bytes, as Standard Webhooks wants
	if len(key) < least {
		return nil, fmt.Errorf("want a secret or secret_file of at least %d bytes, by which the receiver knows that the notification is ours", least)
	}
	return &webhook{url: u.String(), key: key, now: now, client: &http.Client{
		Timeout: within,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
			DialContext: (&net.Dialer{Timeout: within, Control: service.CheckReceiver}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// cloudEvent is a CloudEvent in JSON.
type cloudEvent struct {
	SpecVersion string       `json:"specversion"`
	ID          string       `json:"id"`
	Source      string       `json:"source"`
	Type        string       `json:"type"`
	Subject     string       `json:"subject"`
	Time        time.Time    `json:"time"`
	ContentType string       `json:"datacontenttype"`
	Data        notification `json:"data"`
}

func (w *webhook) send(ctx context.Context, n notification, source string) error {
	body, err := json.Marshal(cloudEvent{"1.0", n.ID, source, "signalbox.v1." + n.Event, n.Instance, n.At, "application/json", n})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is none")
	}
	at := strconv.FormatInt(w.now().Unix(), 10)
	r.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	r.Header.Set("User-Agent", "signalbox")
	r.Header.Set("Webhook-Id", n.ID)
	r.Header.Set("Webhook-Timestamp", at)
	r.Header.Set("Webhook-Signature", "v1,"+w.sign(n.ID, at, body))
	resp, err := w.client.Do(r)
	var timeout net.Error
	switch {
	case errors.Is(err, service.ErrNoReceiver):
		return service.ErrNoReceiver
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("it does not answer in time")
	case err != nil: // which has the address
		return errors.New("it cannot be reached")
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // the status is the answer
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("it answers %d", resp.StatusCode)
	}
	return nil
}

// sign returns the signature of a message.
func (w *webhook) sign(id, at string, body []byte) string {
	mac := hmac.New(sha256.New, w.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
