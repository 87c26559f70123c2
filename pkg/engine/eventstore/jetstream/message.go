package jetstream

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Headers of a commit in addition to JetStream's own. Each is stored with each commit.
// Attributes that all commits share are metadata of the stream: see attributes.
const (
	HeaderTime  = "ce-time" // when it was decided, RFC 3339 with nanoseconds, UTC
	HeaderTrace = "traceparent"
	HeaderChain = "Sb-Chain" // 32 bytes in base64url without padding

	// HeaderPrev and HeaderID are set where a foreign message is in the way. They are the
	// instance's previous commit and the commit's id, which otherwise are JetStream's
	// expected sequence and message id.
	HeaderPrev = "Sb-Prev"
	HeaderID   = "Sb-Id"

	// HeaderErased is Commit.Erased. A commit gets it in a backup, from which the log is made again.
	HeaderErased = "Sb-Erased"
)

// Type is the CloudEvents type of a commit.
const Type = "signalbox.v1.commit"

// attributes are the CloudEvents attributes that all commits share, as metadata
// of the stream. ce-id names the header that is each commit's own id.
func attributes(source string) map[string]string {
	return map[string]string{"ce-specversion": "1.0", "ce-source": source, "ce-type": Type, "ce-id": jetstream.MsgIDHeader}
}

// detour is what a message of a commit has other than usual because a foreign
// message is in the way. The zero detour is none.
type detour struct {
	after   uint64 // newest foreign message on the instance's subjects, if newer than Prev
	otherID bool   // a foreign message has the commit's id as its message id
}

// encode returns the message of a commit that has passed Check.
func encode(c eventstore.Commit, d detour) (*nats.Msg, error) {
	subj, err := c.Subject()
	if err != nil {
		return nil, err
	}
	filter, err := subject.Instance(c.Instance)
	if err != nil {
		return nil, err
	}
	chain, err := hex.DecodeString(c.Chain)
	if err != nil {
		return nil, err
	}
	values := [...]string{
		c.ID, subject.EventStream, strconv.FormatUint(c.Prev, 10), filter,
		c.Time.UTC().Format(time.RFC3339Nano), base64.RawURLEncoding.EncodeToString(chain), c.Trace,
	}
	m := &nats.Msg{Subject: subj, Data: c.Data, Header: nats.Header{
		jetstream.MsgIDHeader:                   values[0:1:1],
		jetstream.ExpectedStreamHeader:          values[1:2:2],
		jetstream.ExpectedLastSubjSeqHeader:     values[2:3:3],
		jetstream.ExpectedLastSubjSeqSubjHeader: values[3:4:4],
		HeaderTime:                              values[4:5:5],
		HeaderChain:                             values[5:6:6],
	}}
	if c.Trace != "" {
		m.Header[HeaderTrace] = values[6:7:7]
	}
	if d.after > c.Prev {
		m.Header[HeaderPrev] = m.Header[jetstream.ExpectedLastSubjSeqHeader]
		m.Header[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(d.after, 10)}
	}
	if d.otherID { // the chain is known to nobody before, and the same in each try
		m.Header[HeaderID] = m.Header[jetstream.MsgIDHeader]
		m.Header[jetstream.MsgIDHeader] = m.Header[HeaderChain]
	}
	return m, nil
}

// foreign reports whether a message does not even claim to be a commit. Each commit
// has had HeaderChain since the first build, and no other program has a reason to
// set it. A commit that lost it still has a time, and the filter of its append. A message
// that claims to be a commit and cannot be decoded is damage.
func foreign(h nats.Header) bool {
	return h.Get(HeaderChain) == "" && (h.Get(HeaderTime) == "" || h.Get(jetstream.ExpectedLastSubjSeqSubjHeader) == "")
}

// decode returns the commit of a stored message. A message that says it is a commit
// and that encode did not make is ErrCorrupt. A foreign one is set aside.
func decode(subj string, h nats.Header, data []byte, seq uint64) (eventstore.Commit, error) {
	if foreign(h) {
		return eventstore.SetAside(seq, subj, data, time.Time{}), nil
	}
	damaged := func(err error) (eventstore.Commit, error) {
		return eventstore.Commit{}, fmt.Errorf("%w: sequence %d on %s is not a commit of ours: %w", eventstore.ErrCorrupt, seq, subj, err)
	}
	e, err := subject.ParseEvent(subj)
	if err != nil {
		return damaged(err)
	}
	if got := h.Get(jetstream.ExpectedLastSubjSeqSubjHeader); !e.Of(got) {
		return damaged(fmt.Errorf("it was appended under the filter %q, want its instance's", got))
	}
	prev, err := decodePrev(h)
	if err != nil {
		return damaged(err)
	}
	at, err := time.Parse(time.RFC3339Nano, h.Get(HeaderTime))
	if err != nil {
		return damaged(fmt.Errorf("header %s: %w", HeaderTime, err))
	}
	chain, err := decodeChain(h.Get(HeaderChain))
	if err != nil {
		return damaged(fmt.Errorf("header %s: %w", HeaderChain, err))
	}
	c := eventstore.Commit{
		ID: cmp.Or(h.Get(HeaderID), h.Get(jetstream.MsgIDHeader)), Workflow: e.Workflow, State: e.State, Instance: e.Instance, Wakes: e.Wakes,
		Time: at.UTC(), Prev: prev, Data: data, Trace: h.Get(HeaderTrace), Seq: seq, Chain: chain,
		Erased: h.Get(HeaderErased),
	}
	if err := c.Check(); err != nil {
		return damaged(err)
	}
	return c, nil
}

// decodePrev returns the sequence of the instance's previous commit: the one that the
// append expected, or an older one if a foreign message came between.
func decodePrev(h nats.Header) (uint64, error) {
	expected, err := strconv.ParseUint(h.Get(jetstream.ExpectedLastSubjSeqHeader), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("header %s: %w", jetstream.ExpectedLastSubjSeqHeader, err)
	}
	text := h.Get(HeaderPrev)
	if text == "" {
		return expected, nil
	}
	prev, err := strconv.ParseUint(text, 10, 64)
	if err == nil && prev >= expected {
		err = fmt.Errorf("it is %d, want one before %d, which the append expected", prev, expected)
	}
	if err != nil {
		return 0, fmt.Errorf("header %s: %w", HeaderPrev, err)
	}
	return prev, nil
}

// decodeChain returns the hex of a chain. It accepts one spelling in base64 only,
// and the hex itself, which the first logs have and Check checks. It allocates
// nothing but the result.
func decodeChain(text string) (string, error) {
	var in, again [64]byte
	var sum [48]byte
	if len(text) == hex.EncodedLen(sha256.Size) {
		return text, nil
	}
	if len(text) > len(in) {
		return "", base64.CorruptInputError(len(in))
	}
	n, err := base64.RawURLEncoding.Decode(sum[:], in[:copy(in[:], text)])
	if err != nil {
		return "", err
	}
	base64.RawURLEncoding.Encode(again[:], sum[:n])
	if again != in {
		return "", fmt.Errorf("%q is not how %q is written", text, again[:len(text)])
	}
	var out [2 * len(sum)]byte
	return string(out[:hex.Encode(out[:], sum[:n])]), nil
}
