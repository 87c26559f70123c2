package porttest_test

import (
	"net"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

func TestAReservedPortIsFreeAndLocked(t *testing.T) {
	address := porttest.Address(t)
	for range 2 { // a server and its restart
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if lock, err := net.ListenPacket("udp", address); err == nil {
		_ = lock.Close()
		t.Error("another test gets the port")
	}
}

func TestAPortIsReservedUntilItsTestEnds(t *testing.T) {
	var address string
	t.Run("a test", func(t *testing.T) { address = porttest.Address(t) })
	lock, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
