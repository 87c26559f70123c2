package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// delivery is what a webhook delivered: what changed, not how. The gateway reads the thing
// itself, as a poll does, so that late and repeated deliveries change nothing.
type delivery struct {
	id            string // the same when it is delivered again
	event, action string
	repo          string // owner/name; "" if it is of no repository
	items         []item
	facts         []fact
	set           *setChange // nil: it is not of the set of repositories
	since         time.Time  // when the comment was made that it is of; zero: it is of none
	slash         bool       // a comment that may have commands
	configures    bool       // the repository: its configuration is read now
}

// heard reports whether there is something to do.
func (d delivery) heard() bool { return len(d.items)+len(d.facts) > 0 || d.set != nil }

// item is an issue or a pull request.
type item struct {
	number   int
	pull     bool
	reopened bool // a pull request that was closed
	gone     bool // an issue that the forge says is deleted, or in another repository
}

// payload is the parts that are read of GitHub's payloads.
type payload struct {
	Action     string
	Repository *struct {
		ID       int64
		FullName string `json:"full_name"`
		Branch   string `json:"default_branch"`
	}
	Issue *struct {
		Number int
		Pull   *struct{} `json:"pull_request"`
	}
	Comment *struct {
		CreatedAt time.Time `json:"created_at"`
		User      struct{ Type string }
		Body      string
	}
	Pull     *numbered `json:"pull_request"`
	Run      *checked  `json:"check_run"`
	Suite    *checked  `json:"check_suite"`
	Workflow *checked  `json:"workflow_run"`
	Group    *struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
	} `json:"merge_group"`
	Reason  string // of a merge group that is destroyed
	Changes struct {
		Repository struct {
			Name struct{ From string }
		}
		Owner struct {
			From struct{ User, Organization struct{ Login string } }
		}
	}
	Added   []named `json:"repositories_added"`
	Removed []named `json:"repositories_removed"`
	All     []named `json:"repositories"`

	commitStatus
	pushed
}

type numbered struct{ Number int }

type named struct {
	FullName string `json:"full_name"`
}

// readDelivery reads a delivery. One that nobody listens to is not heard.
func readDelivery(event, id string, body []byte) (delivery, error) {
	d := delivery{id: id, event: event}
	all := hearings()
	n := slices.IndexFunc(all, func(h hearing) bool { return h.event == event })
	if n < 0 {
		return d, nil // of whatever form it is
	}
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return delivery{}, fmt.Errorf("%w: %w", errDelivery, err)
	}
	h := all[n]
	d.action = p.Action
	if p.Repository != nil {
		d.repo = p.Repository.FullName
	}
	if missing := cmp.Or(h.of.missing(p), d.nowhere(h)); missing != "" {
		return d, fmt.Errorf("%w: %s without %s", errDelivery, event, missing)
	}
	if len(h.actions) == 0 || slices.Contains(h.actions, p.Action) {
		h.of.read(p, &d)
	}
	return d, nil
}

// errDelivery means that a delivery is not of the form that its event has.
var errDelivery = errors.New("not a delivery of this event")

// nowhere returns what is missing if the event is of a repository, and the delivery is not.
func (d delivery) nowhere(h hearing) string {
	if _, set := h.of.(ofSet); set || strings.Count(d.repo, "/") == 1 {
		return ""
	}
	return "a repository"
}
