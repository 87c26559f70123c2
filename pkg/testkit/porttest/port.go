// Package porttest reserves ports for the servers of tests.
package porttest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports that are reserved lie below those that systems give to connections: no connection of
// another test takes one while its server is down.
const (
	first = 20_000
	ports = 10_000
)

// Reserve returns a TCP port of the loopback interface that no program listens at. No other test
// of this machine gets it before t ends.
func Reserve(t testing.TB) int {
	t.Helper()
	from := rand.IntN(ports) // a client that outlives its test does not find the server of the next one
	for i := range ports {
		port := first + (from+i)%ports
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		lock, err := net.ListenPacket("udp", address) // the tests' servers use TCP: that side of the port is free to be a lock
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			_ = lock.Close()
			continue
		}
		_ = l.Close()
		t.Cleanup(func() { _ = lock.Close() })
		return port
	}
	t.Fatalf("the ports %d to %d are all taken: end the programs that listen at them", first, first+ports-1)
	return 0
}

// Address returns the address of a port that Reserve returns: 127.0.0.1:PORT.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Reserve(t)))
}
