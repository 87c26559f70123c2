package local

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// reviewStates is what each event of a review makes of it.
var reviewStates = map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}

func (v view) review(r repo, w review) object {
	i, _ := r.issues.get(w.Pull)
	html := fmt.Sprintf("%s#pullrequestreview-%d", v.issueURL(r, i), w.ID)
	return object{
		"id": w.ID, "node_id": nodeID("PullRequestReview", w.ID), "user": v.user(w.Author), "body": w.Body, "state": w.State,
		"html_url": html, "pull_request_url": v.pullAPI(r, i), "submitted_at": w.Submitted, "commit_id": w.Commit,
		"author_association": v.association(r, w.Author),
		"_links":             object{"html": object{"href": html}, "pull_request": object{"href": v.pullAPI(r, i)}},
	}
}

func (r repo) reviewsOf(number int64) []review {
	return r.reviews.where(func(w review) bool { return w.Pull == number })
}

func listReviews(c *call) (int, any, error) {
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(page(c, c.repo.reviewsOf(i.Number)), func(w review) object { return v.review(c.repo, w) }), nil
}

func (c *call) foundReview(r repo) (review, error) {
	w, ok := r.reviews.get(c.id("id"))
	if !ok || w.Pull != c.id("number") {
		return review{}, errNotFound
	}
	return w, nil
}

func getReview(c *call) (int, any, error) {
	w, err := c.foundReview(c.repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().review(c.repo, w), nil
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
	i, err := c.pull()
	switch {
	case err != nil:
		return 0, nil, err
	case !known: // a review without an event is a draft of its author's, which is not kept here
		return 0, nil, invalid("PullRequestReview", "event", "invalid")
	case in.Event != "APPROVE" && strings.TrimSpace(in.Body) == "" && len(in.Comments) == 0:
		return 0, nil, invalid("PullRequestReview", "body", "missing_field")
	case in.Event != "COMMENT" && i.Author == c.user.ID:
		verb := strings.ToLower(strings.ReplaceAll(in.Event, "_", " "))
		return 0, nil, &failure{http.StatusUnprocessableEntity, "Unprocessable Entity",
			[]any{fmt.Sprintf("Can not %s your own pull request", strings.Replace(verb, "changes", "changes on", 1))}}
	}
	if err := limit("PullRequestReview", "body", in.Body, maxText); err != nil {
		return 0, nil, err
	}
	sha := cmp.Or(in.Commit, i.Pull.HeadSHA)
	if _, err := c.f.commit(c.Context(), c.name(), sha); err != nil {
		return 0, nil, invalid("PullRequestReview", "commit_id", "invalid")
	}
	var lines []lineComment
	for _, one := range in.Comments {
		one.Commit = sha
		l, err := c.place(i, one)
		if err != nil {
			return 0, nil, err
		}
		lines = append(lines, l)
	}
	var made review
	err = c.change(func(t *tx, r repo) error {
		made = review{
			ID: t.id(), Pull: i.Number, State: state, Body: in.Body, Commit: sha, Author: c.user.ID, Submitted: t.now,
		}
		t.put(entry{Repo: c.name(), Review: &made})
		for _, l := range lines {
			l.put(t, c.name(), made.ID)
		}
		now, err := c.found(r)
		if err != nil {
			return err
		}
		p := *now.Pull // who has reviewed is no longer asked to
		p.Asked = slices.DeleteFunc(slices.Clone(p.Asked), func(id int64) bool { return id == c.user.ID })
		now.Pull = &p
		t.touch(c.name(), now)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().review(c.repo, made), nil
}

func dismissReview(c *call) (int, any, error) {
	var in struct{ Message string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(in.Message) == "" {
		return 0, nil, invalid("PullRequestReview", "message", "missing_field")
	}
	var w review
	err := c.change(func(t *tx, r repo) (err error) {
		if w, err = c.foundReview(r); err != nil {
			return err
		}
		if !slices.Contains([]string{"APPROVED", "CHANGES_REQUESTED"}, w.State) {
			return &failure{http.StatusUnprocessableEntity, "Unprocessable Entity", []any{"Can not dismiss a " + strings.ToLower(w.State) + " pull request review"}}
		}
		w.State = "DISMISSED"
		t.put(entry{Repo: c.name(), Review: &w})
		i, err := c.found(r)
		t.touch(c.name(), i)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().review(c.repo, w), nil
}
