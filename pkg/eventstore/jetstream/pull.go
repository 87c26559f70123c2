package jetstream

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/subject"
)

// pull is the messages of a consumer up to one that is there. The client library's
// own way has a timer and several locks for each, which takes as long as to decode it.
type pull struct {
	conn    *nats.Conn
	subject string // to ask on
	inbox   string // to be answered on
	sub     *nats.Subscription
	came    chan *nats.Msg
	left    uint64 // what is still to be asked for
	asked   uint64 // what was asked for and did not come
}

// newPull begins to ask for the next so many messages of a consumer.
func (s *Store) newPull(consumer string, messages uint64) (*pull, error) {
	api := s.js.Options()
	p := &pull{
		conn: s.js.Conn(), inbox: s.js.Conn().NewInbox(), left: messages,
		subject: subject.Pull(api.Domain, api.APIPrefix, consumer),
		came:    make(chan *nats.Msg, readAhead+16), // and how requests for them ended
	}
	var err error
	p.sub, err = p.conn.ChanSubscribe(p.inbox, p.came)
	return p, err
}

func (p *pull) end() { _ = p.sub.Unsubscribe() } // else the connection is closed

// more asks for more once half of what was asked for has come.
func (p *pull) more() error {
	n := min(readAhead-p.asked, p.left)
	if p.asked > readAhead/2 || n == 0 {
		return nil
	}
	body := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"expires":%d}`, n, readBytes, expiry)
	if err := p.conn.PublishRequest(p.subject, p.inbox, body); err != nil {
		return err
	}
	p.asked, p.left = p.asked+n, p.left-n
	return nil
}

// message returns the next one, or errLost if none comes for a while.
func (p *pull) message(ctx context.Context) (*nats.Msg, error) {
	for {
		if err := p.more(); err != nil {
			return nil, err
		}
		m, err := p.receive(ctx)
		if err != nil {
			return nil, err
		}
		if m.Reply != "" { // else it is no message, but how a request ended
			p.asked--
			return m, nil
		}
		if err := p.ended(m); err != nil {
			return nil, err
		}
	}
}

func (p *pull) receive(ctx context.Context) (*nats.Msg, error) {
	var m *nats.Msg
	var open bool
	select {
	case m, open = <-p.came:
	default:
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case m, open = <-p.came:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, fmt.Errorf("%w: nothing comes", errLost)
		}
	}
	if !open {
		return nil, nats.ErrConnectionClosed
	}
	return m, nil
}

// ended takes back what a request asked for and did not get: it was a while ago, or
// the rest was too large.
func (p *pull) ended(m *nats.Msg) error {
	n, err := strconv.ParseUint(m.Header.Get("Nats-Pending-Messages"), 10, 64)
	if err != nil || n > p.asked {
		return fmt.Errorf("%w: %s", errLost, m.Header.Get("Description"))
	}
	p.asked, p.left = p.asked-n, p.left+n
	return nil
}

// placed returns where a delivered message is, in the consumer's deliveries and in
// the stream: the subject to acknowledge it on says so, also of one that is not to
// be acknowledged.
func placed(ack string) (delivery, seq uint64, err error) {
	rest, ours := strings.CutPrefix(ack, "$JS.ACK.")
	skip := 3 // the stream, the consumer, how often
	if strings.Count(rest, ".") > 6 {
		skip = 5 // and the domain and the account before
	}
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	stream, rest, _ := strings.Cut(rest, ".")
	count, _, _ := strings.Cut(rest, ".")
	seq, err = strconv.ParseUint(stream, 10, 64)
	if err == nil {
		delivery, err = strconv.ParseUint(count, 10, 64)
	}
	if err != nil || !ours {
		return 0, 0, fmt.Errorf("%q is no delivery: %w", ack, nats.ErrNotJSMessage)
	}
	return delivery, seq, nil
}
