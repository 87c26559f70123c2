// Package hook sends what webhooks deliver, each delivery once, in the background, and
// keeps what became of it, as GitHub does: it repeats nothing by itself.
package hook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // GitHub's older signature is made of it
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
)

// The limits of deliveries.
const (
	Limit     = 10 * time.Second // for the whole answer, as at GitHub
	maxKept   = 1000             // attempts that a hook remembers
	maxQueued = 10_000           // deliveries of a hook that wait to be sent
	maxAnswer = 64 << 10         // bytes of an answer that are kept
)

// Target is a webhook.
type Target struct {
	ID       int64
	Kind     string // integration, repository or enterprise
	Of       int64  // the App or the repository
	URL      string
	Secret   string
	Insecure bool // certificates are not checked
}

// Message is what is delivered.
type Message struct {
	Event, Action string
	Installation  int64 // 0 for none
	Repository    int64 // 0 for none
	Payload       []byte
}

// Attempt is one attempt at a delivery.
type Attempt struct {
	ID         int64
	GUID       string // of the delivery
	At         time.Time
	Took       time.Duration
	Redelivery bool
	Status     string // OK, or what went wrong
	Code       int    // the status of the answer, 0 for none
	URL        string
	Asked      http.Header
	Answered   http.Header
	Answer     string
	Message
}

// Fault is what becomes of a delivery in place of being sent once, now.
type Fault struct {
	Drop   bool          // it is not sent, and listed as failed
	Twice  bool          // it is sent twice, with the same id
	Behind int           // how many later ones are sent before it
	Delay  time.Duration // before it is sent; those after it wait, too
}

// Config is what a sender is made with.
type Config struct {
	Now   func() time.Time
	Log   *slog.Logger
	Fault func(Message) *Fault // nil: there are none
}

// Sender sends deliveries. Its methods may be called from any goroutine.
type Sender struct {
	config Config
	ctx    context.Context
	stop   context.CancelFunc
	busy   sync.WaitGroup

	mu     sync.Mutex
	lastID int64
	boxes  map[box]*outbox
}

// box names the deliveries of one webhook.
type box struct {
	kind string
	id   int64
}

// outbox is the deliveries of one webhook: those that wait, and what became of others.
type outbox struct {
	queue    []parcel
	held     []parcel // until later ones have been sent
	sending  bool
	attempts []Attempt // the oldest first
}

type parcel struct {
	to     Target
	guid   string
	again  bool
	behind int
	Message
}

// New returns a sender. Close it.
func New(c Config) *Sender {
	s := &Sender{config: c, boxes: map[box]*outbox{}, lastID: c.Now().UnixMicro()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close drops what waits, and returns when nothing is being sent any more.
func (s *Sender) Close() {
	s.stop()
	s.busy.Wait()
}

// Send has the message delivered after those that the webhook was sent before.
func (s *Sender) Send(to Target, m Message) { s.put(parcel{to: to, guid: newGUID(), Message: m}) }

// Again has what the attempt was at delivered once more. It reports whether there is such
// an attempt.
func (s *Sender) Again(to Target, attempt int64) bool {
	a, ok := s.Attempt(to, attempt)
	if ok {
		s.put(parcel{to: to, guid: a.GUID, again: true, Message: a.Message})
	}
	return ok
}

// Attempts returns what became of the webhook's deliveries, the newest first.
func (s *Sender) Attempts(of Target) []Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := slices.Clone(s.outbox(of).attempts)
	slices.Reverse(rows)
	return rows
}

// Attempt returns one attempt.
func (s *Sender) Attempt(of Target, id int64) (Attempt, bool) {
	for _, a := range s.Attempts(of) {
		if a.ID == id {
			return a, true
		}
	}
	return Attempt{}, false
}

// outbox returns the outbox of a webhook. Its caller holds the lock.
func (s *Sender) outbox(of Target) *outbox {
	key := box{of.Kind, of.ID}
	if s.boxes[key] == nil {
		s.boxes[key] = &outbox{}
	}
	return s.boxes[key]
}

func (s *Sender) put(p parcel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	b := s.outbox(p.to)
	if len(b.queue) == maxQueued {
		s.config.Log.Warn("a delivery is dropped: too many wait for the receiver", "event", p.Event, "url", p.to.URL)
		return
	}
	b.queue = append(b.queue, p)
	if !b.sending {
		b.sending = true
		s.busy.Go(func() { s.work(b) })
	}
}

// work sends what is in the outbox, one after the other, until nothing is.
func (s *Sender) work(b *outbox) {
	for {
		p, ok := s.next(b)
		if !ok {
			return
		}
		s.carry(b, p)
	}
}

func (s *Sender) next(b *outbox) (parcel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b.queue) == 0 || s.ctx.Err() != nil {
		b.sending = false
		return parcel{}, false
	}
	p := b.queue[0]
	b.queue = b.queue[1:]
	return p, true
}

// carry sends one delivery, with what the fault makes of it, and those that waited for it.
func (s *Sender) carry(b *outbox, p parcel) {
	fault := &Fault{}
	if s.config.Fault != nil && !p.again {
		if f := s.config.Fault(p.Message); f != nil {
			fault = f
		}
	}
	if fault.Behind > 0 {
		p.behind = fault.Behind
		b.held = append(b.held, p)
		return
	}
	if fault.Delay > 0 {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(fault.Delay):
		}
	}
	times := 1
	if fault.Twice {
		times = 2
	}
	for range times {
		s.send(b, p, fault.Drop)
	}
	held := b.held
	b.held = nil
	for _, h := range held {
		if h.behind--; h.behind > 0 {
			b.held = append(b.held, h)
			continue
		}
		s.send(b, h, false)
	}
}

// send makes one attempt and keeps what became of it.
func (s *Sender) send(b *outbox, p parcel, drop bool) {
	a := Attempt{GUID: p.guid, At: s.config.Now().UTC(), Redelivery: p.again, URL: p.to.URL, Message: p.Message}
	a.Asked = header(p)
	begun := time.Now()
	if drop {
		a.Status = "Failed to connect"
	} else {
		s.post(p, &a)
	}
	a.Took = time.Since(begun)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	a.ID = s.lastID
	b.attempts = append(b.attempts, a)
	b.attempts = b.attempts[max(0, len(b.attempts)-maxKept):]
}

func (s *Sender) post(p parcel, a *Attempt) {
	ctx, cancel := context.WithTimeout(s.ctx, Limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to.URL, bytes.NewReader(p.Payload))
	if err != nil {
		a.Status = "Invalid URL"
		return
	}
	r.Header = a.Asked
	client := secure
	if p.to.Insecure {
		client = insecure
	}
	resp, err := client().Do(r)
	if err != nil {
		a.Status = "Failed to connect"
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			a.Status = "timed out"
		}
		return
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	a.Code, a.Answered, a.Answer = resp.StatusCode, resp.Header, string(answer)
	a.Status = http.StatusText(resp.StatusCode)
	switch {
	case err != nil:
		a.Status, a.Code = "timed out", 0
	case resp.StatusCode < http.StatusMultipleChoices:
		a.Status = "OK"
	}
}

// secure and insecure return a client that follows no redirect, as GitHub's.
func secure() *http.Client { return client(nil) }

func insecure() *http.Client { return client(&tls.Config{InsecureSkipVerify: true}) } //nolint:gosec // the webhook says so

func client(c *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true,
			DialContext: (&net.Dialer{Timeout: Limit, Control: service.CheckReceiver}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func header(p parcel) http.Header {
	h := http.Header{} // with GitHub's spelling of the names
	for name, value := range map[string]string{
		"Accept": "*/*", "Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/local",
		"X-GitHub-Event": p.Event, "X-GitHub-Delivery": p.guid, "X-GitHub-Hook-ID": strconv.FormatInt(p.to.ID, 10),
		"X-GitHub-Hook-Installation-Target-ID": strconv.FormatInt(p.to.Of, 10), "X-GitHub-Hook-Installation-Target-Type": p.to.Kind,
	} {
		h[name] = []string{value}
	}
	if p.to.Secret != "" {
		h["X-Hub-Signature"] = []string{"sha1=" + signature(sha1.New, p)}
		h["X-Hub-Signature-256"] = []string{"sha256=" + signature(sha256.New, p)}
	}
	return h
}

func signature(of func() hash.Hash, p parcel) string {
	mac := hmac.New(of, []byte(p.to.Secret))
	mac.Write(p.Payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// newGUID returns a random id in the form of a UUID.
func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
