package service

import (
	"net"
)

// CheckAddress returns a UsageError unless the value of a flag is an address to listen
// at, HOST:PORT. An empty HOST means all addresses of the machine. An empty value is
// none, and valid.
func CheckAddress(flag, addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return Usagef("%s %s: want HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080", flag, addr)
	}
	return nil
}
