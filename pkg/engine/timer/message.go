package timer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Headers of a scheduled message.
const (
	headerSchedule = "Nats-Schedule"
	headerTarget   = "Nats-Schedule-Target"
)

// body is the body of a timer's message. The subject has the rest.
type body struct {
	Due     time.Time      `json:"due"`
	Entered uint64         `json:"entered"`
	Level   workflow.Level `json:"level,omitempty"`
	Seq     uint64         `json:"seq"`
}

// armedSubject is the subject of the scheduled message, firedSubject the one it is
// published to when due. Neither fails: the id of an instance in the log has a
// subject.
func (t Timer) armedSubject() string { return t.subject(false) }
func (t Timer) firedSubject() string { return t.subject(true) }

func (t Timer) subject(fired bool) string {
	s, _ := subject.Timer{Kind: string(t.Kind), Instance: t.Instance, Fired: fired}.Subject()
	return s
}

// encode returns the timer's message, which is stored only if the newest message at
// its subject has the given sequence; 0: if there is none.
func encode(t Timer, present uint64) (*nats.Msg, error) {
	data, err := json.Marshal(body{t.Due, t.Entered, t.Level, t.Commit})
	if err != nil {
		return nil, err
	}
	return &nats.Msg{Subject: t.armedSubject(), Data: data, Header: nats.Header{
		// Written by hand: the client library's option truncates to seconds, and the timer
		// would fire early.
		headerSchedule:                      {"@at " + t.Due.UTC().Format(time.RFC3339Nano)},
		headerTarget:                        {t.firedSubject()},
		jetstream.ExpectedStreamHeader:      {subject.TimerStream},
		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(present, 10)},
	}}, nil
}

// decode returns the timer of a message, armed or fired.
func decode(subj string, data []byte) (Timer, error) {
	s, err := subject.ParseTimer(subj)
	if err != nil {
		return Timer{}, err
	}
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return Timer{}, fmt.Errorf("timer %s: %w", subj, err)
	}
	t := Timer{s.Instance, Kind(s.Kind), b.Due, b.Entered, b.Level, b.Seq}
	if !slices.Contains(kinds(), t.Kind) {
		return t, fmt.Errorf("timer %s: %q is no kind of timer", subj, t.Kind)
	}
	return t, nil
}
