package service_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/service"
)

func ExampleUsagef() {
	err := fmt.Errorf("start: %w", service.Usagef("--workers %d: want at least 1", 0))
	fmt.Println(err, service.ExitCode(err) == service.ExitUsage)
	// Output: start: --workers 0: want at least 1 true
}

func ExampleParseDuration() {
	d, err := service.ParseDuration("2d")
	fmt.Println(d, err)
	// Output: 48h0m0s <nil>
}
