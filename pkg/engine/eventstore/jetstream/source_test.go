package jetstream

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

func TestADeliverySaysWhereItIs(t *testing.T) {
	for _, ack := range []string{
		"$JS.ACK.EVENTS.c1.1.17.4.1767344400000000000.3",
		"$JS.ACK.hub.ACCOUNT.EVENTS.c1.1.17.4.1767344400000000000.3",
		"$JS.ACK._.ACCOUNT.EVENTS.c1.1.17.4.1767344400000000000.3.token",
	} {
		at, seq, err := placed(ack)
		want, _ := (&nats.Msg{Reply: ack, Sub: new(nats.Subscription)}).Metadata()
		if err != nil || at != 4 || seq != 17 || want.Sequence.Consumer != at || want.Sequence.Stream != seq {
			t.Errorf("%s is %d at %d, %v; want %+v", ack, at, seq, err, want)
		}
	}
	for _, ack := range []string{"", "_INBOX.1", "$JS.ACK.EVENTS", "$JS.ACK.EVENTS.c1.1.x.4.5.6", "$JS.ACK.EVENTS.c1.1.17.-4.5.6", "$XX.ACK.EVENTS.c1.1.17.4.5.6"} {
		if at, seq, err := placed(ack); err == nil {
			t.Errorf("%q is %d at %d", ack, at, seq)
		}
	}
}

func TestAForeignDeliveryCountsAsOne(t *testing.T) {
	s := source{next: 17, delivered: 3}
	for _, ack := range []string{"$JS.ACK.EVENTS.c1.1.17.4.1767344400000000000.3", "$JS.ACK._.ACCOUNT.EVENTS.c1.1.18.5.1767344400000000000.3.token"} {
		c, err := s.commit("sb.evt.junk", ack, nil, nil)
		if err != nil || c.Foreign == nil || c.Foreign.Stored.Unix() != 1767344400 {
			t.Errorf("%s: got %+v, %v", ack, c.Foreign, err)
		}
	}
}

func TestWhatIsNotTheNextDeliveryIsNoticed(t *testing.T) {
	for ack, want := range map[string]error{
		"$JS.ACK.EVENTS.c1.1.17.5.1.3": errLost,               // one went missing on its way
		"$JS.ACK.EVENTS.c1.1.18.4.1.3": eventstore.ErrCorrupt, // the log has a hole
		"$JS.ACK.EVENTS.c1.1.17.4.1.3": eventstore.ErrCorrupt, // it is damaged
		"":                             nats.ErrNotJSMessage,
	} {
		s := source{next: 17, delivered: 3}
		if _, err := s.commit("sb.evt.junk", ack, nats.Header{HeaderChain: {"cut sh"}}, nil); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", ack, err, want)
		}
	}
}
