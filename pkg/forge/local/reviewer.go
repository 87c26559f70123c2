package local

import (
	"net/http"
	"slices"
)

// asked is the accounts whose review is requested.
func (v view) asked(i issue) []object {
	users := []object{}
	for _, id := range i.Pull.Asked {
		if a, ok := v.state.accounts.get(id); ok {
			users = append(users, v.account(a))
		}
	}
	return users
}

func listAsked(c *call) (int, any, error) {
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"users": c.view().asked(i), "teams": []object{}}, nil
}

// askReviewers requests reviews, or takes the requests back.
func askReviewers(add bool) handler {
	return func(c *call) (int, any, error) {
		var in struct{ Reviewers []string }
		if err := c.decode(&in); err != nil {
			return 0, nil, err
		}
		if _, err := c.pull(); err != nil {
			return 0, nil, err
		}
		var edited issue
		err := c.change(func(t *tx, r repo) (err error) {
			if edited, err = c.found(r); err != nil {
				return err
			}
			p := *edited.Pull
			for _, login := range in.Reviewers {
				a, ok := t.state.account(login)
				if !ok || a.ID == edited.Author && add {
					return &failure{status: http.StatusUnprocessableEntity, message: "Reviews may only be requested from collaborators."}
				}
				p.Asked = slices.DeleteFunc(slices.Clone(p.Asked), func(id int64) bool { return id == a.ID })
				if add {
					p.Asked = append(p.Asked, a.ID)
				}
			}
			edited.Pull = &p
			t.touch(c.name(), edited)
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
		status := http.StatusOK
		if add {
			status = http.StatusCreated
		}
		return status, c.view().pull(c.repo, edited), nil
	}
}
