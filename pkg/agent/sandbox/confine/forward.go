package confine

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// forward listens on a port of 127.0.0.1 and connects each client to the socket at
// path, for as long as this process lives.
func forward(port int, path string) error {
	return serve(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), func(client net.Conn) {
		if server, err := net.Dial("unix", path); err == nil {
			join(client, server, server)
		}
	})
}

// tunnel listens on HOST:PORT, which is of loopback, and connects each client to the same
// port of the host, by the proxy at path.
func tunnel(target, path string) error {
	return serve(target, func(client net.Conn) {
		server, err := net.Dial("unix", path)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(server, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
			server.Close()
			return
		}
		answer := bufio.NewReader(server)
		if r, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect}); err != nil || r.StatusCode != http.StatusOK {
			server.Close() // nobody listens there
			return
		}
		join(client, server, answer)
	})
}

// serve has each client of an address handled, and closes it after that.
func serve(address string, handle func(net.Conn)) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen for the proxy: %w", err)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				handle(client)
			}()
		}
	}()
	return nil
}

// join copies between a client and a server until both directions have ended. The server's
// bytes are read from said.
func join(client, server net.Conn, said io.Reader) {
	defer server.Close()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(server, client)
		if c, ok := server.(*net.UnixConn); ok {
			_ = c.CloseWrite()
		}
		close(done)
	}()
	_, _ = io.Copy(client, said)
	if c, ok := client.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	<-done
}
