package service_test

import (
	"io"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestADurationMayHaveDays(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"7d": 168 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "-1d": -24 * time.Hour, "+2d": 48 * time.Hour, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0": 0,
	} {
		if got, err := service.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
		var flags struct {
			Within time.Duration   `name:"within"`
			Each   []time.Duration `name:"each"`
		}
		if _, err := service.Parse(&flags, service.Call{Name: "x", Args: []string{"--within=" + text, "--each=1s," + text}, Stdout: io.Discard, Stderr: io.Discard}); err != nil ||
			flags.Within != want || len(flags.Each) != 2 || flags.Each[1] != want {
			t.Errorf("as a flag %s is %+v, %v", text, flags, err)
		}
	}
	for _, text := range []string{"", "d", "1", "1d-2h", "1d2", "1dd", "1.5d", "--1d", "99999999d", "1w"} {
		if got, err := service.ParseDuration(text); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
}
