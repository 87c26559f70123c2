package rest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// defaultColor is the colour of a label that was created without one.
const defaultColor = "ededed"

var colorPattern = lazyregexp.New(`^[0-9a-fA-F]{6}$`)

func (v view) label(r store.Repo, l store.Label) object {
	return object{
		"id": l.ID, "node_id": nodeID("Label", l.ID), "name": l.Name, "color": l.Color, "default": false,
		"description": optional(l.Description), "url": v.RepoAPI(r) + "/labels/" + url.PathEscape(l.Name),
	}
}

func (v view) labels(r store.Repo, names []string) []object {
	return each(names, func(name string) object {
		l, _ := r.Label(name)
		return v.label(r, l)
	})
}

// addNames returns the labels with the names added. It puts the labels that the
// repository does not have, and spells each name as the repository does.
func addNames(t *store.Tx, r store.Repo, have, names []string) []string {
	have = slices.Clone(have)
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "" || slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, name) }) {
			continue
		}
		if l, ok := r.Label(name); ok {
			name = l.Name
		} else {
			t.Put(store.Entry{Repo: r.FullName(), Label: &store.Label{ID: t.ID(), Name: name, Color: defaultColor}})
		}
		have = append(have, name)
	}
	return have
}

func listLabels(c *call) (int, any, error) {
	v := c.view()
	return http.StatusOK, each(page(c, c.Repo.Labels), func(l store.Label) object { return v.label(c.Repo, l) }), nil
}

func createLabel(c *call) (int, any, error) {
	var in struct{ Name, Color, Description string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	in.Name, in.Color = strings.TrimSpace(in.Name), cmp.Or(in.Color, defaultColor)
	if in.Name == "" {
		return 0, nil, invalid("Label", "name", "missing_field")
	}
	if !colorPattern.MatchString(in.Color) {
		return 0, nil, invalid("Label", "color", "invalid")
	}
	if err := limit("Label", "name", in.Name, 50); err != nil {
		return 0, nil, err
	}
	var made store.Label
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		if _, ok := r.Label(in.Name); ok {
			return invalid("Label", "name", "already_exists")
		}
		made = store.Label{ID: t.ID(), Name: in.Name, Color: in.Color, Description: in.Description}
		t.Put(store.Entry{Repo: c.Name(), Label: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().label(c.Repo, made), nil
}

func listIssueLabels(c *call) (int, any, error) {
	i, err := c.Issue(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().labels(c.Repo, page(c, i.Labels)), nil
}

// labelNames decodes an array of names, alone or as the field labels.
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
	return relabel(c, func(t *store.Tx, r store.Repo, have, named []string) ([]string, error) {
		return addNames(t, r, have, named), nil
	})
}

func replaceLabels(c *call) (int, any, error) {
	return relabel(c, func(t *store.Tx, r store.Repo, _, named []string) ([]string, error) {
		return addNames(t, r, nil, named), nil
	})
}

func clearLabels(c *call) (int, any, error) {
	_, _, err := relabel(c, func(*store.Tx, store.Repo, []string, []string) ([]string, error) { return nil, nil })
	return http.StatusNoContent, nil, err
}

func removeLabel(c *call) (int, any, error) {
	return relabel(c, func(_ *store.Tx, _ store.Repo, have, _ []string) ([]string, error) {
		at := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(h, c.PathValue("label")) })
		if at < 0 {
			return nil, &failure{status: http.StatusNotFound, message: "Label does not exist"}
		}
		return slices.Delete(slices.Clone(have), at, at+1), nil
	})
}

// relabel changes the labels of the issue that the path names and answers with all of them.
func relabel(c *call, how func(t *store.Tx, r store.Repo, have, named []string) ([]string, error)) (int, any, error) {
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
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		i, err := c.Issue(r)
		if err != nil {
			return err
		}
		labels, err = how(t, r, i.Labels, named)
		if err != nil {
			return err
		}
		if !slices.Equal(labels, i.Labels) {
			t.Touch(c.Name(), i.Label(labels, c.User.ID, t.Now))
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().labels(c.Repo, labels), nil
}

// listIssueEvents lists who gave the issue its title, and who set the labels that it has. Other
// events of an issue are not kept.
func listIssueEvents(c *call) (int, any, error) {
	i, err := c.Issue(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	all := i.Labelled
	if i.Renamed != nil {
		all = append([]store.Labelled{{By: i.Renamed.By, At: i.Renamed.At}}, all...)
	}
	return http.StatusOK, each(page(c, all), func(l store.Labelled) object {
		if l.Label == "" {
			return object{
				"id": i.ID, "node_id": nodeID("RenamedTitleEvent", i.ID), "actor": v.user(l.By), "event": "renamed", "created_at": l.At,
				"rename": object{"from": "", "to": i.Title},
			}
		}
		return object{
			"id": i.ID, "node_id": nodeID("LabeledEvent", i.ID), "actor": v.user(l.By), "event": "labeled", "created_at": l.At,
			"label": object{"name": l.Label},
		}
	}), nil
}
