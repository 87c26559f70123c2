package accesstest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/service/access"
)

// Raw is a connection of a party on which a test writes the bytes of NATS's protocol itself,
// among them some that no client library sends. One goroutine uses it.
type Raw struct {
	conn net.Conn
	in   *bufio.Reader
	sent int // requests, each with a reply subject of its own
}

// ErrRefused means that the server ended or refused what was sent, with its error.
var ErrRefused = errors.New("the server refused it")

// Raw connects as a party.
func (s *Server) Raw(t testing.TB, p access.Party) *Raw {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "nats://"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	r := &Raw{conn: conn, in: bufio.NewReader(conn)}
	line, err := r.in.ReadString('\n')
	must(t, err)
	var info struct{ Nonce string }
	must(t, json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info))
	key := s.keys[p]
	signed, err := key.Sign([]byte(info.Nonce))
	must(t, err)
	public, err := key.PublicKey()
	must(t, err)
	must(t, r.Write(fmt.Appendf(nil, "CONNECT {\"nkey\":%q,\"sig\":%q,\"headers\":true,\"no_responders\":true,\"verbose\":false,\"pedantic\":false}\r\nSUB _INBOX.raw.* 1\r\n",
		public, base64.RawURLEncoding.EncodeToString(signed))))
	must(t, r.Flush())
	return r
}

// rawTimeout bounds a read and a write.
const rawTimeout = 10 * time.Second

// Write sends bytes as they are.
func (r *Raw) Write(b []byte) error {
	if err := r.conn.SetDeadline(time.Now().Add(rawTimeout)); err != nil {
		return err
	}
	_, err := r.conn.Write(b)
	return err
}

// Flush returns once the server has handled all that was written, or with ErrRefused. A server
// that neither replies nor ends the connection within rawTimeout is another error.
// Messages that arrive before are lost.
func (r *Raw) Flush() error {
	written := r.Write([]byte("PING\r\n")) // the server may have ended the connection before
	if errors.Is(written, os.ErrDeadlineExceeded) {
		return written
	}
	for {
		line, err := r.in.ReadString('\n')
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", ErrRefused, errors.Join(written, err))
		case strings.HasPrefix(line, "PONG"):
			return nil
		case strings.HasPrefix(line, "-ERR"):
			return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(line))
		}
	}
}

// Request publishes a request whose header is the given bytes, and returns the reply, header
// and all. A reply without responders is ErrRefused.
func (r *Raw) Request(to, header, body string) (reply string, err error) {
	r.sent++
	inbox := fmt.Sprintf("_INBOX.raw.%d", r.sent)
	if err := r.Write(fmt.Appendf(nil, "HPUB %s %s %d %d\r\n%s%s\r\n", to, inbox, len(header), len(header)+len(body), header, body)); err != nil {
		return "", err
	}
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrRefused, err)
		}
		if strings.HasPrefix(line, "-ERR") {
			return "", fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(line))
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != "MSG" && fields[0] != "HMSG" {
			continue
		}
		var n int
		if _, err := fmt.Sscan(fields[len(fields)-1], &n); err != nil {
			return "", err
		}
		data := make([]byte, n+2)
		if _, err := io.ReadFull(r.in, data); err != nil {
			return "", err
		}
		if fields[1] != inbox {
			continue
		}
		if strings.HasPrefix(string(data), "NATS/1.0 503") {
			return "", fmt.Errorf("%w: no responders", ErrRefused)
		}
		return string(data[:n]), nil
	}
}
