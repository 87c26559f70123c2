package yamltext_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

func TestAByteOrderMarkIsNoPartOfTheFirstKey(t *testing.T) {
	var v map[string]string
	if err := yamltext.Unmarshal([]byte("\ufefflabel: ai\r\n"), &v); err != nil || v["label"] != "ai" || len(v) != 1 {
		t.Errorf("%q, %v", v, err)
	}
}

func TestUTF16IsRefusedWithTheRemedy(t *testing.T) {
	for _, text := range []string{"\xff\xfea\x00:\x00", "\xfe\xff\x00a\x00:"} {
		var v any
		if err := yamltext.Unmarshal([]byte(text), &v); err == nil || !strings.Contains(err.Error(), "save it as UTF-8") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
