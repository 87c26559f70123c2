package service_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestAnAddressNamesHostAndPort(t *testing.T) {
	for addr, right := range map[string]bool{
		"": true, "127.0.0.1:0": true, ":8080": true, "[::1]:8080": true, "localhost:http": true, "forge.example.test:443": true,
		"0.0.0.0": false, "8080": false, "localhost": false, "::1": false, "::1:8080": false, "[::1]": false, "127.0.0.1:": false, ":": false,
		"127.0.0.1:65536": false, "127.0.0.1:-1": false, "127.0.0.1:nosuchservice": false, "http://127.0.0.1:80": false,
	} {
		err := service.CheckAddress("--web", addr)
		if (err == nil) != right {
			t.Errorf("%q: %v", addr, err)
		}
		if err != nil && (service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), "--web "+addr+": want HOST:PORT")) {
			t.Errorf("%q: it says %v", addr, err)
		}
	}
}
