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

// connection is one to NATS, read operation by operation.
type connection struct {
	*Line
	client, server net.Conn

	mu      sync.Mutex // of writes to the server, and of what follows
	wants   []string   // the service's subscriptions
	pings   int        // of the service's that are not answered
	parting bool       // nothing more is for the service
	reply   string     // the answer that the service does not live to hear
	waiting chan struct{}
}

// listen lets the incarnation reach NATS.
func (l *Line) listen(server string) (net.Listener, error) {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.NATS = "nats://" + front.Addr().String()
	l.wires.Go(func() {
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
			w := &connection{Line: l, client: client, server: behind, waiting: make(chan struct{})}
			context.AfterFunc(l, w.part)
			l.wires.Go(w.up)
			l.wires.Go(w.down)
		}
	})
	return front, nil
}

// part has the service heard and answered no more. What the server is about to
// hand it is on its way until the server has answered, and then nothing is: else
// a message that is handed out again could go to the dead once more.
func (w *connection) part() {
	_ = w.client.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parting {
		return
	}
	w.parting = true
	var out []byte
	for _, id := range w.wants {
		out = fmt.Appendf(out, "UNSUB %s\r\n", id)
	}
	_, _ = w.server.Write(append(out, "PING\r\n"...))
}

// parted reports whether the operation is the server's last.
func (w *connection) parted(o operation) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.verb != "PONG" || !w.parting {
		return false
	}
	w.pings--
	return w.pings < 0
}

// operation is one of NATS's protocol, with its payload.
type operation struct {
	verb, subject, reply string
	head                 int // bytes of the payload that are headers
	raw, payload         []byte
}

func read(r *bufio.Reader) (o operation, err error) {
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
	acks = "$JS.ACK."
	soon = `-NAK {"delay": 20000000}` // what is to come later comes in 20 ms
)

// up carries what the service says.
func (w *connection) up() {
	defer w.part()
	for in := bufio.NewReader(w.client); ; {
		o, err := read(in)
		if err != nil || !w.pass() {
			return
		}
		said := bytes.TrimSpace(o.payload)
		if settles := strings.HasPrefix(o.subject, acks); settles && bytes.HasPrefix(said, []byte("-NAK")) {
			o.raw, o.payload = []byte(fmt.Sprintf("PUB %s %d\r\n", o.subject, len(soon))), []byte(soon+"\r\n")
		}
		c, counts := call(o, said)
		fault := None
		if counts {
			var ok bool
			if fault, ok = w.call(c); !ok {
				return
			}
		}
		if !w.send(o, fault == Dies) {
			return
		}
		if strings.HasPrefix(o.subject, acks) && string(said) != "+WPI" {
			w.settled()
		}
		if fault == Dies {
			<-w.waiting
			return
		}
	}
}

// send forwards to the server. Of the last operation the server's word that it
// was taken is waited for.
func (w *connection) send(o operation, last bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o.verb {
	case "PING":
		w.pings++
	case "SUB":
		words := strings.Fields(string(o.raw))
		w.wants = append(w.wants, words[len(words)-1])
	}
	out := append(o.raw, o.payload...)
	if last {
		if w.reply = o.reply; w.reply == "" {
			w.reply, out = "PONG", append(out, "PING\r\n"...)
		}
	}
	_, err := w.server.Write(out)
	return err == nil
}

// down carries what the service hears.
func (w *connection) down() {
	defer close(w.waiting)
	defer func() { _, _ = w.client.Close(), w.server.Close() }()
	for in := bufio.NewReader(w.server); ; {
		o, err := read(in)
		if err != nil || w.parted(o) {
			return
		}
		if w.Err() != nil {
			continue
		}
		given := strings.HasPrefix(o.reply, acks)
		if w.asleep() {
			if given { // in time it goes to another
				w.send(operation{raw: []byte("PUB " + o.reply + " 4\r\n-NAK\r\n")}, false)
			}
			continue
		}
		if w.last(o) {
			w.die()
			continue
		}
		if _, err := w.client.Write(append(o.raw, o.payload...)); err != nil {
			w.part()
		}
	}
}

// last reports whether the operation answers the service's last.
func (w *connection) last(o operation) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.verb == "PONG" && w.pings > 0:
		w.pings--
		return false
	case o.verb == "PONG":
		return w.reply == "PONG"
	}
	return w.reply != "" && o.subject == w.reply
}

// call is what an operation calls, if it counts: NATS's own housekeeping, the
// taking of work and heartbeats change nothing, and come as time has it.
func call(o operation, said []byte) (c Call, counts bool) {
	c = Call{Name: o.subject, Writes: true, NATS: true}
	switch {
	case !strings.HasSuffix(o.verb, "PUB"), strings.HasPrefix(o.subject, "$JS.API."), strings.HasPrefix(o.subject, "_INBOX."),
		strings.HasPrefix(o.subject, "$SRV."), strings.HasSuffix(o.subject, ".heartbeat"), string(said) == "+WPI":
		return c, false
	case strings.HasPrefix(o.subject, acks):
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
