package local

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// freshColor is the colour of a label nobody has given one.
const freshColor = "ededed"

var colorPattern = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

func (v view) label(r repo, l label) object {
	return object{
		"id": l.ID, "node_id": nodeID("Label", l.ID), "name": l.Name, "color": l.Color, "default": false,
		"description": optional(l.Description), "url": v.repoAPI(r) + "/labels/" + url.PathEscape(l.Name),
	}
}

func (v view) labels(r repo, names []string) []object {
	return each(names, func(name string) object {
		l, _ := r.label(name)
		return v.label(r, l)
	})
}

// label adds names to those there are, makes the labels the repository does
// not know, and spells each name as the repository does.
func (t *tx) label(r repo, have, names []string) []string {
	have = slices.Clone(have)
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "" || slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, name) }) {
			continue
		}
		if l, ok := r.label(name); ok {
			name = l.Name
		} else {
			t.put(entry{Repo: r.fullName(), Label: &label{ID: t.id(), Name: name, Color: freshColor}})
		}
		have = append(have, name)
	}
	return have
}

func listLabels(c *call) (int, any, error) {
	v := c.view()
	return http.StatusOK, each(page(c, c.repo.labels), func(l label) object { return v.label(c.repo, l) }), nil
}

func getLabel(c *call) (int, any, error) {
	l, ok := c.repo.label(c.PathValue("label"))
	if !ok {
		return 0, nil, errNotFound
	}
	return http.StatusOK, c.view().label(c.repo, l), nil
}

func createLabel(c *call) (int, any, error) {
	var in struct{ Name, Color, Description string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	in.Name, in.Color = strings.TrimSpace(in.Name), cmp.Or(in.Color, freshColor)
	if in.Name == "" {
		return 0, nil, invalid("Label", "name", "missing_field")
	}
	if !colorPattern.MatchString(in.Color) {
		return 0, nil, invalid("Label", "color", "invalid")
	}
	if err := limit("Label", "name", in.Name, 50); err != nil {
		return 0, nil, err
	}
	var made label
	err := c.change(func(t *tx, r repo) error {
		if _, ok := r.label(in.Name); ok {
			return invalid("Label", "name", "already_exists")
		}
		made = label{ID: t.id(), Name: in.Name, Color: in.Color, Description: in.Description}
		t.put(entry{Repo: c.name(), Label: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().label(c.repo, made), nil
}

func listIssueLabels(c *call) (int, any, error) {
	i, err := c.found(c.repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().labels(c.repo, page(c, i.Labels)), nil
}

// labelNames reads an array of names, alone or as the field labels.
type labelNames []string

func (n *labelNames) UnmarshalJSON(data []byte) error {
	var names []string
	if err := json.Unmarshal(data, &names); err == nil {
		*n = names
		return nil
	}
	var in struct{ Labels []string }
	err := json.Unmarshal(data, &in)
	*n = in.Labels
	return err
}

func addLabels(c *call) (int, any, error) {
	return relabel(c, func(t *tx, r repo, have, named []string) ([]string, error) { return t.label(r, have, named), nil })
}

func replaceLabels(c *call) (int, any, error) {
	return relabel(c, func(t *tx, r repo, _, named []string) ([]string, error) { return t.label(r, nil, named), nil })
}

func clearLabels(c *call) (int, any, error) {
	_, _, err := relabel(c, func(*tx, repo, []string, []string) ([]string, error) { return nil, nil })
	return http.StatusNoContent, nil, err
}

func removeLabel(c *call) (int, any, error) {
	return relabel(c, func(_ *tx, _ repo, have, _ []string) ([]string, error) {
		at := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(h, c.PathValue("label")) })
		if at < 0 {
			return nil, &failure{status: http.StatusNotFound, message: "Label does not exist"}
		}
		return slices.Delete(slices.Clone(have), at, at+1), nil
	})
}

// relabel gives the path's issue other labels and answers with all it then has.
func relabel(c *call, how func(t *tx, r repo, have, named []string) ([]string, error)) (int, any, error) {
	var named labelNames
	if err := c.decode(&named); err != nil {
		return 0, nil, err
	}
	for _, name := range named {
		if err := limit("Label", "name", name, 50); err != nil {
			return 0, nil, err
		}
	}
	var labels []string
	err := c.change(func(t *tx, r repo) error {
		i, err := c.found(r)
		if err != nil {
			return err
		}
		labels, err = how(t, r, i.Labels, named)
		if err != nil {
			return err
		}
		if !slices.Equal(labels, i.Labels) {
			i.Labels = labels
			t.touch(c.name(), i)
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().labels(c.repo, labels), nil
}
