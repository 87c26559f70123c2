package service

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ErrNoReceiver is the error of a request to an address that no receiver of webhooks has.
var ErrNoReceiver = errors.New("webhooks are not delivered to link-local, multicast or unspecified addresses")

// alibaba is where Alibaba Cloud hands out the credentials of a machine. The address is no
// link-local one, unlike those of other clouds.
var alibaba = [4]byte{100, 100, 100, 200}

// CheckReceiver refuses addresses at which a network's own services answer, such as those
// that hand out a machine's credentials. It is a net.Dialer's Control: a dialer calls it
// after names are resolved.
func CheckReceiver(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := to.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip == netip.AddrFrom4(alibaba) {
		return fmt.Errorf("%w: %s", ErrNoReceiver, ip)
	}
	return nil
}
