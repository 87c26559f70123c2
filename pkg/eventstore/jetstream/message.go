package jetstream

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// Headers of a commit beside JetStream's own: its CloudEvents attributes, its
// trace and its place in the hash chain.
const (
	HeaderSpecVersion = "ce-specversion"
	HeaderID          = "ce-id"
	HeaderSource      = "ce-source"
	HeaderType        = "ce-type"
	HeaderTime        = "ce-time"
	HeaderTrace       = "traceparent"
	HeaderChain       = "Sb-Chain"
)

// Type is the CloudEvents type of a commit.
const Type = "signalbox.v1.commit"

// encode makes the message of a commit that Check takes.
func encode(c eventstore.Commit, source string) (*nats.Msg, error) {
	subj, err := c.Subject()
	if err != nil {
		return nil, err
	}
	filter, err := subject.Instance(c.Instance)
	if err != nil {
		return nil, err
	}
	m := &nats.Msg{Subject: subj, Data: c.Data, Header: nats.Header{
		jetstream.MsgIDHeader:                   {c.ID},
		jetstream.ExpectedStreamHeader:          {subject.EventStream},
		jetstream.ExpectedLastSubjSeqHeader:     {strconv.FormatUint(c.Prev, 10)},
		jetstream.ExpectedLastSubjSeqSubjHeader: {filter},
		HeaderSpecVersion:                       {"1.0"},
		HeaderID:                                {c.ID},
		HeaderSource:                            {source},
		HeaderType:                              {Type},
		HeaderTime:                              {c.Time.UTC().Format(time.RFC3339Nano)},
		HeaderChain:                             {c.Chain},
	}}
	if c.Trace != "" {
		m.Header.Set(HeaderTrace, c.Trace)
	}
	return m, nil
}

// decode returns the commit of a stored message. One that encode did not make
// is ErrCorrupt: nothing else may write to the log.
func decode(subj string, h nats.Header, data []byte, seq uint64) (eventstore.Commit, error) {
	foreign := func(err error) (eventstore.Commit, error) {
		return eventstore.Commit{}, fmt.Errorf("%w: sequence %d on %s is not a commit of ours: %w", eventstore.ErrCorrupt, seq, subj, err)
	}
	e, err := subject.ParseEvent(subj)
	if err != nil {
		return foreign(err)
	}
	filter, err := subject.Instance(e.Instance)
	if err != nil {
		return foreign(err)
	}
	if got := h.Get(jetstream.ExpectedLastSubjSeqSubjHeader); got != filter {
		return foreign(fmt.Errorf("it was appended under the filter %q, want %q", got, filter))
	}
	prev, err := strconv.ParseUint(h.Get(jetstream.ExpectedLastSubjSeqHeader), 10, 64)
	if err != nil {
		return foreign(fmt.Errorf("header %s: %w", jetstream.ExpectedLastSubjSeqHeader, err))
	}
	at, err := time.Parse(time.RFC3339Nano, h.Get(HeaderTime))
	if err != nil {
		return foreign(fmt.Errorf("header %s: %w", HeaderTime, err))
	}
	c := eventstore.Commit{
		ID: h.Get(jetstream.MsgIDHeader), Workflow: e.Workflow, State: e.State, Instance: e.Instance, Wakes: e.Wakes,
		Time: at.UTC(), Prev: prev, Data: data, Trace: h.Get(HeaderTrace), Seq: seq, Chain: h.Get(HeaderChain),
	}
	if err := c.Check(); err != nil {
		return foreign(err)
	}
	return c, nil
}
