package timer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Headers of a message that the server holds back.
const (
	headerSchedule = "Nats-Schedule"
	headerTarget   = "Nats-Schedule-Target"
)

// body is the message of a timer. What it lacks is in the subject.
type body struct {
	Due     time.Time      `json:"due"`
	Entered uint64         `json:"entered"`
	Level   workflow.Level `json:"level,omitempty"`
	Seq     uint64         `json:"seq"`
}

// waits is the subject where the timer waits; due is where it goes at its time.
// The instance is in the log, so it has a subject.
func (t Timer) waits() string { return t.subject(false) }
func (t Timer) due() string   { return t.subject(true) }

func (t Timer) subject(fired bool) string {
	s, _ := subject.Timer{Kind: string(t.Kind), Instance: t.Instance, Fired: fired}.Subject()
	return s
}

// encode makes the timer's message, to be stored if its present one has the
// given sequence; 0 is none.
func encode(t Timer, present uint64) (*nats.Msg, error) {
	data, err := json.Marshal(body{t.Due, t.Entered, t.Level, t.Seq})
	if err != nil {
		return nil, err
	}
	return &nats.Msg{Subject: t.waits(), Data: data, Header: nats.Header{
		// Written here: the client library's own option cuts the fraction of a
		// second off, and the timer would be early.
		headerSchedule:                      {"@at " + t.Due.UTC().Format(time.RFC3339Nano)},
		headerTarget:                        {t.due()},
		jetstream.ExpectedStreamHeader:      {subject.TimerStream},
		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(present, 10)},
	}}, nil
}

// decode returns the timer of a message, due or not.
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
	if t.Kind != Deadline && t.Kind != Wake {
		return t, fmt.Errorf("timer %s: %q is no kind of timer", subj, t.Kind)
	}
	return t, nil
}
