package confine

import (
	"fmt"
	"io"
	"net"
	"strconv"
)

// forward listens on a port of 127.0.0.1 and connects each client to the socket at
// path, for as long as this process lives.
func forward(port int, path string) error {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen for the proxy: %w", err)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go join(client, path)
		}
	}()
	return nil
}

// join copies between a client and the socket until both directions have ended.
func join(client net.Conn, path string) {
	defer client.Close()
	server, err := net.Dial("unix", path)
	if err != nil {
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(server, client)
		if c, ok := server.(*net.UnixConn); ok {
			_ = c.CloseWrite()
		}
		close(done)
	}()
	_, _ = io.Copy(client, server)
	if c, ok := client.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	<-done
}
