package httpserver

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// SystemUser returns the id of the user of this machine whose process sent the request. It is
// empty where the system does not say: for a request from another machine, and not on Linux.
func SystemUser(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	server, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return ""
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		user := socketOwner(f, peer, server)
		_ = f.Close()
		if user != "" {
			return user
		}
	}
	return ""
}

// socketOwner returns the user of the connection from one address to another, as a table of
// /proc/net has it, or "".
func socketOwner(table io.Reader, from, to netip.AddrPort) string {
	same := func(text string, want netip.AddrPort) bool {
		at, ok := socketAddress(text)
		return ok && at.Port() == want.Port() && at.Addr().Unmap() == want.Addr().Unmap().WithZone("")
	}
	for lines := bufio.NewScanner(table); lines.Scan(); {
		const local, remote, user = 1, 2, 7
		fields := strings.Fields(lines.Text())
		if len(fields) > user && same(fields[local], from) && same(fields[remote], to) {
			return fields[user]
		}
	}
	return ""
}

// socketAddress parses an address of a table of /proc/net: words of 32 bits in the order of
// bytes of the machine, in hexadecimal, a colon, and the port.
func socketAddress(text string) (netip.AddrPort, bool) {
	words, digits, ok := strings.Cut(text, ":")
	port, err := strconv.ParseUint(digits, 16, 16)
	raw, wrong := hex.DecodeString(words)
	if !ok || err != nil || wrong != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr, uint16(port)), ok
}
