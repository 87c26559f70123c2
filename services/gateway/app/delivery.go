package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
)

// delivery is what a webhook delivered: what changed, not how. The gateway reads the thing
// itself, as a poll does, so that late and repeated deliveries change nothing.
type delivery struct {
	event, action string
	repo          string // owner/name; "" if it is of no repository
	items         []item
	since         time.Time // when the comment was made that it is of; zero: it is of none
	slash         bool      // a comment that may have commands
}

// item is an issue or a pull request.
type item struct {
	number int
	pull   bool
}

// payload is the parts that are read of GitHub's payloads.
type payload struct {
	Action     string
	Repository *struct {
		FullName string `json:"full_name"`
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
}

type numbered struct{ Number int }

type checked struct {
	Name  string
	Pulls []numbered `json:"pull_requests"`
}

// errDelivery says that a delivery is not of the form that its event has.
var errDelivery = errors.New("not a delivery of this event")

// readDelivery reads a delivery. One of an event that nobody listens to has no items.
func readDelivery(event string, body []byte) (delivery, error) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return delivery{}, fmt.Errorf("%w: %w", errDelivery, err)
	}
	d := delivery{event: event, action: p.Action}
	if p.Repository != nil {
		d.repo = p.Repository.FullName
	}
	want := func(ok bool, what string) error {
		if ok && strings.Count(d.repo, "/") == 1 {
			return nil
		}
		return fmt.Errorf("%w: %s without a repository or %s", errDelivery, event, what)
	}
	switch event {
	case "issues", "issue_comment":
		if err := want(p.Issue != nil && p.Issue.Number > 0, "an issue"); err != nil {
			return d, err
		}
		d.items = []item{{p.Issue.Number, p.Issue.Pull != nil}}
		if p.Comment != nil && p.Comment.User.Type == "Bot" && p.Issue.Pull == nil {
			d.items = nil // a bot's word is no signal; ours is edited often
		}
		if p.Comment != nil {
			d.since = p.Comment.CreatedAt
			d.slash = strings.Contains(p.Comment.Body, "/")
		}
	case "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread":
		if err := want(p.Pull != nil && p.Pull.Number > 0, "a pull request"); err != nil {
			return d, err
		}
		d.items = []item{{p.Pull.Number, true}}
	case "check_run", "check_suite", "workflow_run":
		for _, of := range []*checked{p.Run, p.Suite, p.Workflow} {
			if of != nil && of.Name != rules.GatesCheck { // ours: it says nothing new
				for _, pull := range of.Pulls {
					d.items = append(d.items, item{pull.Number, true})
				}
			}
		}
	}
	return d, nil
}
