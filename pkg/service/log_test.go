package service_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestOffATerminalLogsAreJSONUnlessTextIsAsked(t *testing.T) {
	tests := map[string]struct {
		logging service.Logging
		json    bool
		debug   bool
	}{
		"auto": {service.Logging{Level: "info", Format: "auto"}, true, false},
		"json": {service.Logging{Level: "debug", Format: "json"}, true, true},
		"text": {service.Logging{Level: "info", Format: "text"}, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := test.logging.Logger(&out)
			log.Info("moved", "state", "implementing", "took", 1500*time.Millisecond)
			if got := json.Valid(out.Bytes()); got != test.json {
				t.Errorf("JSON is %t: %s", got, out.String())
			}
			if !strings.Contains(out.String(), "1.5s") || !strings.Contains(out.String(), "implementing") || strings.Contains(out.String(), "\x1b") {
				t.Errorf("the line is %q", out.String())
			}
			out.Reset()
			log.Debug("detail")
			if got := out.Len() > 0; got != test.debug {
				t.Errorf("debug is logged: %t", got)
			}
		})
	}
}

func TestALogInJSONSteersNoTerminalAndLosesNothing(t *testing.T) {
	const hostile = "a\u009b31m\x1b[2J\u202eb\x7f\u200b\u2028\U000e0041\xff ü 測 👍\n\t\"\\u202e"
	var out bytes.Buffer
	service.Logging{Format: "json"}.Logger(&out).Info("said "+hostile, "title", hostile)
	line := strings.TrimSuffix(out.String(), "\n")
	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("the line has %+q: %+q", line[i:], line)
	}
	var read struct{ Msg, Title string }
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read.Title != strings.ToValidUTF8(hostile, "\ufffd") || read.Msg != "said "+read.Title {
		t.Errorf("it is read as %+q: %v", read, err)
	}
}
