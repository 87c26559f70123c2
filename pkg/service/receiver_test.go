package service_test

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestNothingIsSentToServicesOfTheNetwork(t *testing.T) {
	for address, refused := range map[string]bool{
		"127.0.0.1:80": false, "[::1]:80": false, "192.0.2.1:443": false, "10.0.0.7:8080": false,
		"169.254.169.254:80": true, "[::ffff:169.254.169.254]:80": true, "[fe80::1%eth0]:80": true, "224.0.0.1:80": true, "0.0.0.0:80": true, "[::]:80": true, "100.100.100.200:80": true,
	} {
		if err := service.CheckReceiver("tcp", address, nil); errors.Is(err, service.ErrNoReceiver) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}
