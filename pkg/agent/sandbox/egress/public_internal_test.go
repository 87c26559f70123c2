package egress

import (
	"net/netip"
	"testing"
)

func TestNoPrivateAddressIsPublic(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255",
		"198.18.0.1", "192.0.2.1", "240.0.0.1", "::1", "::", "::127.0.0.1", "::10.0.0.1", "fe80::1", "fd00::1", "fec0::1", "ff02::1", "2001:db8::1",
		"2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1%eth0",
	} {
		if addr := netip.MustParseAddr(text); public(addr.Unmap()) {
			t.Errorf("%s is taken for a public address", text)
		}
	}
	for _, text := range []string{"::ffff:127.0.0.1", "::ffff:10.0.0.1"} {
		if addr := netip.MustParseAddr(text); public(addr) || public(addr.Unmap()) {
			t.Errorf("%s is taken for a public address", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "140.82.112.3", "2606:4700:4700::1111"} {
		if !public(netip.MustParseAddr(text)) {
			t.Errorf("%s is not taken for a public address", text)
		}
	}
}
