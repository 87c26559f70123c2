package jetstream

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func TestAMajorityIsMoreThanHalfOfTheServersOfTheLog(t *testing.T) {
	here, offline := &jetstream.PeerInfo{Name: "here"}, &jetstream.PeerInfo{Name: "off", Offline: true}
	idle, other := &jetstream.PeerInfo{Name: "idle", Active: time.Minute}, &jetstream.PeerInfo{Name: "other", Offline: true}
	for name, c := range map[string]struct {
		cluster *jetstream.ClusterInfo
		missing string // "": there is a majority
	}{
		"a server alone":                   {nil, ""},
		"all of three":                     {&jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{here, idle}}, ""},
		"two of three":                     {&jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{here, offline}}, ""},
		"one of three":                     {&jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{other, offline}}, "of 3 servers [other off] are away"},
		"half of two":                      {&jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{other}}, "of 2 servers [other] are away"},
		"three that have not chosen":       {&jetstream.ClusterInfo{Replicas: []*jetstream.PeerInfo{here, here}}, "no majority"},
		"one replica, on one of the three": {&jetstream.ClusterInfo{Leader: "a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := majority(c.cluster)
			if (err == nil) != (c.missing == "") || err != nil && (!errors.Is(err, ErrNoMajority) || !strings.Contains(err.Error(), c.missing)) {
				t.Errorf("got %v, want %q", err, c.missing)
			}
		})
	}
	if err := leaderless(&jetstream.APIError{Code: 503, ErrorCode: jetStreamAway}); !errors.Is(err, ErrNoMajority) {
		t.Errorf("a cluster without a leader: %v", err)
	}
}
