package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// reviewStates maps the event of a new review to its state.
var reviewStates = map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}

func (v view) review(r store.Repo, w store.Review) object {
	i, _ := r.Issues.Get(w.Pull)
	html := fmt.Sprintf("%s#pullrequestreview-%d", v.IssueURL(r, i), w.ID)
	return object{
		"id": w.ID, "node_id": nodeID("PullRequestReview", w.ID), "user": v.user(w.Author), "body": w.Body, "state": w.State,
		"html_url": html, "pull_request_url": v.PullAPI(r, i), "submitted_at": w.Submitted, "commit_id": w.Commit,
		"author_association": v.association(r, w.Author),
		"_links":             object{"html": object{"href": html}, "pull_request": object{"href": v.PullAPI(r, i)}},
	}
}

func listReviews(c *call) (int, any, error) {
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(page(c, c.Repo.ReviewsOf(i.Number)), func(w store.Review) object { return v.review(c.Repo, w) }), nil
}

func (c *call) reviewOf(r store.Repo) (store.Review, error) {
	w, ok := r.Reviews.Get(c.PathID("id"))
	if !ok || w.Pull != c.PathID("number") {
		return store.Review{}, host.ErrNotFound
	}
	return w, nil
}

func createReview(c *call) (int, any, error) {
	var in struct {
		Body, Event string
		Commit      string `json:"commit_id"`
		Comments    []draftLine
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	state, known := reviewStates[in.Event]
	i, err := c.PullRequest()
	switch {
	case err != nil:
		return 0, nil, err
	case !known: // a review without an event is a draft, which the forge does not keep
		return 0, nil, invalid("PullRequestReview", "event", "invalid")
	case in.Event != "APPROVE" && strings.TrimSpace(in.Body) == "" && len(in.Comments) == 0:
		return 0, nil, invalid("PullRequestReview", "body", "missing_field")
	case in.Event != "COMMENT" && i.Author == c.User.ID:
		verb := strings.ToLower(strings.ReplaceAll(in.Event, "_", " "))
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Unprocessable Entity",
			errors: []any{fmt.Sprintf("Can not %s your own pull request", strings.Replace(verb, "changes", "changes on", 1))}}
	}
	if err := limit("PullRequestReview", "body", in.Body, maxText); err != nil {
		return 0, nil, err
	}
	sha := cmp.Or(in.Commit, i.Pull.HeadSHA)
	if _, err := c.Git().Resolve(c.Context(), sha); err != nil {
		return 0, nil, invalid("PullRequestReview", "commit_id", "invalid")
	}
	var lines []store.LineComment
	for _, one := range in.Comments {
		one.Commit = sha
		l, err := c.locateLine(i, one)
		if err != nil {
			return 0, nil, err
		}
		lines = append(lines, l)
	}
	var made store.Review
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		made = store.Review{
			ID: t.ID(), Pull: i.Number, State: state, Body: in.Body, Commit: sha, Author: c.User.ID, Submitted: t.Now,
		}
		t.Put(store.Entry{Repo: c.Name(), Review: &made})
		for _, l := range lines {
			putLine(t, c.Name(), l, made.ID)
		}
		now, err := c.Issue(r)
		if err != nil {
			return err
		}
		p := *now.Pull // a review ends the request for it
		p.Asked = slices.DeleteFunc(slices.Clone(p.Asked), func(id int64) bool { return id == c.User.ID })
		now.Pull = &p
		t.Touch(c.Name(), now)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().review(c.Repo, made), nil
}

func dismissReview(c *call) (int, any, error) {
	var in struct{ Message string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(in.Message) == "" {
		return 0, nil, invalid("PullRequestReview", "message", "missing_field")
	}
	var w store.Review
	err := c.Change(func(t *store.Tx, r store.Repo) (err error) {
		if w, err = c.reviewOf(r); err != nil {
			return err
		}
		if !slices.Contains([]string{"APPROVED", "CHANGES_REQUESTED"}, w.State) {
			return &failure{status: http.StatusUnprocessableEntity, message: "Unprocessable Entity",
				errors: []any{"Can not dismiss a " + strings.ToLower(w.State) + " pull request review"}}
		}
		w.State = "DISMISSED"
		t.Put(store.Entry{Repo: c.Name(), Review: &w})
		i, err := c.Issue(r)
		t.Touch(c.Name(), i)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().review(c.Repo, w), nil
}

// reviewers returns the accounts whose review is requested.
func (v view) reviewers(i store.Issue) []object {
	users := []object{}
	for _, id := range i.Pull.Asked {
		if a, ok := v.state.Accounts.Get(id); ok {
			users = append(users, v.account(a))
		}
	}
	return users
}

func listReviewers(c *call) (int, any, error) {
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"users": c.view().reviewers(i), "teams": []object{}}, nil
}

// requestReviewers returns the handler that requests reviews, or removes the requests.
func requestReviewers(add bool) handler {
	return func(c *call) (int, any, error) {
		var in struct{ Reviewers []string }
		if err := c.decode(&in); err != nil {
			return 0, nil, err
		}
		if _, err := c.PullRequest(); err != nil {
			return 0, nil, err
		}
		var edited store.Issue
		err := c.Change(func(t *store.Tx, r store.Repo) (err error) {
			if edited, err = c.Issue(r); err != nil {
				return err
			}
			p := *edited.Pull
			for _, login := range in.Reviewers {
				a, ok := t.State.Account(login)
				if !ok || a.ID == edited.Author && add {
					return &failure{status: http.StatusUnprocessableEntity, message: "Reviews may only be requested from collaborators."}
				}
				p.Asked = slices.DeleteFunc(slices.Clone(p.Asked), func(id int64) bool { return id == a.ID })
				if add {
					p.Asked = append(p.Asked, a.ID)
				}
			}
			edited.Pull = &p
			t.Touch(c.Name(), edited)
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
		status := http.StatusOK
		if add {
			status = http.StatusCreated
		}
		return status, c.view().pull(c.Repo, edited), nil
	}
}
