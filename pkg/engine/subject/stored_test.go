package subject_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

func TestWhatIsStored(t *testing.T) {
	for _, c := range []struct {
		ack string
		seq uint64 // 0: it is not
	}{
		{`{"stream":"EVENTS","seq":17}`, 17},
		{`{"stream":"EVENTS","seq":18446744073709551615}`, 1<<64 - 1},
		{`{"stream":"EVENTS","domain":"hub","seq":17}`, 17},
		{`{"stream":"EVENTS","seq":17, "domain":"hub"}`, 17},
		{`{"stream":"EVENTS","seq":17,"duplicate":true}`, 0},
		{`{"stream":"EVENTS","seq":17,"batch":"x","count":3}`, 0},
		{`{"stream":"EVENTS","seq":0}`, 0},
		{`{"stream":"OTHER","seq":17}`, 0},
		{`{"error":{"code":400,"err_code":10071},"stream":"EVENTS","seq":17}`, 0},
		{`{"stream":"EVENTS","seq":17`, 0},
		{`{"stream":"EVENTS","seq":18446744073709551616}`, 0},
		{``, 0}, {`}`, 0}, {`ok`, 0},
	} {
		if seq, ok := subject.Stored([]byte(c.ack)); ok != (c.seq > 0) || seq != c.seq {
			t.Errorf("%s: %d, %v; want %d", c.ack, seq, ok, c.seq)
		}
	}
}
