package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// natsConn forwards a connection of the service to NATS, one protocol operation at a time.
type natsConn struct {
	*Link
	client, server net.Conn

	mu            sync.Mutex // protects writes to the server, and the fields below
	subscriptions []string   // ids of the service's subscriptions
	pendingPings  int        // PINGs of the service that are not answered
	closing       bool       // the service gets no more messages
	awaitedReply  string     // the reply that the service crashes before
	done          chan struct{}
}

// serveNATS listens for connections of the instance to NATS.
func (l *Link) serveNATS(server string) (net.Listener, error) {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.NATS = "nats://" + front.Addr().String()
	l.connections.Go(func() {
		for {
			client, err := front.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", strings.TrimPrefix(server, "nats://"))
			if err != nil {
				_ = client.Close()
				continue
			}
			w := &natsConn{Link: l, client: client, server: behind, done: make(chan struct{})}
			context.AfterFunc(l, w.closeService)
			l.connections.Go(w.forwardUp)
			l.connections.Go(w.forwardDown)
		}
	})
	return front, nil
}

// closeService closes the connection to the service. It unsubscribes and sends a PING:
// once the server has answered that, no message is on its way to the service. Without
// it a redelivered message could go to the crashed instance again.
func (w *natsConn) closeService() {
	_ = w.client.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return
	}
	w.closing = true
	var out []byte
	for _, id := range w.subscriptions {
		out = fmt.Appendf(out, "UNSUB %s\r\n", id)
	}
	_, _ = w.server.Write(append(out, "PING\r\n"...))
}

// isLastPong reports whether the operation answers the PING of closeService.
func (w *natsConn) isLastPong(o natsOp) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.verb != "PONG" || !w.closing {
		return false
	}
	w.pendingPings--
	return w.pendingPings < 0
}

// natsOp is an operation of the NATS protocol with its payload.
type natsOp struct {
	verb, subject, reply string
	head                 int // bytes of the payload that are headers
	raw, payload         []byte
}

func readOp(r *bufio.Reader) (o natsOp, err error) {
	if o.raw, err = r.ReadBytes('\n'); err != nil {
		return o, err
	}
	words := strings.Fields(string(o.raw))
	if len(words) == 0 {
		return o, nil
	}
	o.verb = strings.ToUpper(words[0])
	sizes, at := map[string]int{"PUB": 1, "HPUB": 2, "MSG": 1, "HMSG": 2}[o.verb], 2
	if sizes == 0 {
		return o, nil
	}
	if strings.HasSuffix(o.verb, "MSG") {
		at = 3 // after the subscription
	}
	o.subject = words[1]
	if len(words) == at+1+sizes {
		o.reply = words[at]
	}
	size, err := strconv.Atoi(words[len(words)-1])
	if sizes == 2 && err == nil {
		o.head, err = strconv.Atoi(words[len(words)-2])
	}
	if err != nil {
		return o, err
	}
	o.payload = make([]byte, size+2)
	_, err = io.ReadFull(r, o.payload)
	return o, err
}

const (
	ackPrefix = "$JS.ACK."
	nakSoon   = `-NAK {"delay": 20000000}` // a delayed redelivery comes in 20 ms
)

// forwardUp forwards operations of the service to the server.
func (w *natsConn) forwardUp() {
	defer w.closeService()
	for in := bufio.NewReader(w.client); ; {
		o, err := readOp(in)
		if err != nil || !w.admit() {
			return
		}
		said := bytes.TrimSpace(o.payload)
		if settles := strings.HasPrefix(o.subject, ackPrefix); settles && bytes.HasPrefix(said, []byte("-NAK")) {
			o.raw, o.payload = []byte(fmt.Sprintf("PUB %s %d\r\n", o.subject, len(nakSoon))), []byte(nakSoon+"\r\n")
		}
		c, counts := callOf(o, said)
		fault := None
		if counts {
			var ok bool
			if fault, ok = w.countCall(c); !ok {
				return
			}
		}
		if !w.send(o, fault == CrashAfter) {
			return
		}
		if strings.HasPrefix(o.subject, ackPrefix) && string(said) != "+WPI" {
			w.noteAck()
		}
		if fault == CrashAfter {
			<-w.done
			return
		}
	}
}

// send forwards an operation to the server. After the last one, which the service does
// not survive, forwardDown waits for the reply or a PONG.
func (w *natsConn) send(o natsOp, last bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o.verb {
	case "PING":
		w.pendingPings++
	case "SUB":
		words := strings.Fields(string(o.raw))
		w.subscriptions = append(w.subscriptions, words[len(words)-1])
	}
	out := append(o.raw, o.payload...)
	if last {
		if w.awaitedReply = o.reply; w.awaitedReply == "" {
			w.awaitedReply, out = "PONG", append(out, "PING\r\n"...)
		}
	}
	_, err := w.server.Write(out)
	return err == nil
}

// forwardDown forwards operations of the server to the service.
func (w *natsConn) forwardDown() {
	defer close(w.done)
	defer func() { _, _ = w.client.Close(), w.server.Close() }()
	for in := bufio.NewReader(w.server); ; {
		o, err := readOp(in)
		if err != nil || w.isLastPong(o) {
			return
		}
		if w.Err() != nil {
			continue
		}
		given := strings.HasPrefix(o.reply, ackPrefix)
		if w.isStalled() {
			if given { // it would be redelivered to another instance in time
				w.send(natsOp{raw: []byte("PUB " + o.reply + " 4\r\n-NAK\r\n")}, false)
			}
			continue
		}
		if w.isAwaitedReply(o) {
			w.crash()
			continue
		}
		if _, err := w.client.Write(append(o.raw, o.payload...)); err != nil {
			w.closeService()
		}
	}
}

// isAwaitedReply reports whether the operation answers the last one of the service.
func (w *natsConn) isAwaitedReply(o natsOp) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.verb == "PONG" && w.pendingPings > 0:
		w.pendingPings--
		return false
	case o.verb == "PONG":
		return w.awaitedReply == "PONG"
	}
	return w.awaitedReply != "" && o.subject == w.awaitedReply
}

// callOf returns the call that an operation makes, and false for one that does not count.
// Housekeeping of NATS, fetches of work and heartbeats change nothing, and their number
// depends on timing.
func callOf(o natsOp, said []byte) (c Call, counts bool) {
	c = Call{Name: o.subject, Writes: true, NATS: true}
	switch {
	case !strings.HasSuffix(o.verb, "PUB"), strings.HasPrefix(o.subject, "$JS.API."), strings.HasPrefix(o.subject, "_INBOX."),
		strings.HasPrefix(o.subject, "$SRV."), strings.HasSuffix(o.subject, ".heartbeat"), string(said) == "+WPI":
		return c, false
	case strings.HasPrefix(o.subject, ackPrefix):
		verb, _, _ := strings.Cut(string(said), " ")
		c.Name = "acknowledgement " + verb
	case strings.HasPrefix(o.subject, "$O."):
		c.Name = strings.Join(strings.Split(o.subject, ".")[:3], ".")
	}
	switch o.subject {
	case "sb.api.get", "sb.api.list", "sb.api.history", "sb.api.definition":
		c.Writes = false
	}
	return c, true
}
