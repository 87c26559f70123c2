package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// place is a repository that is watched, or was. It outlasts the gateway.
type place struct {
	ID   int64  `json:"id,omitempty"`   // on the forge, where it stays when the name changes; 0: not known yet
	Name string `json:"name"`           // by which it was first watched: its instances and cursors have that
	Now  string `json:"now,omitempty"`  // on the forge, if that is another
	Away string `json:"away,omitempty"` // why nothing is done in it; its instances are paused for that reason
	Rest bool   `json:"rest,omitempty"` // they all are
}

// belongs reports whether the list has the place, by either of its names.
func (p place) belongs(list forgeside.Repositories) bool {
	other := cmp.Or(p.Now, p.Name)
	return (list.Check(p.Name) == nil || list.Check(other) == nil) && !list.LeavesOut(p.Name) && !list.LeavesOut(other)
}

// The reasons for which nothing is done in a repository.
func archived(name string) string {
	return name + " is archived on the forge: nothing in it can be changed; work goes on when it is no longer"
}

func removed(name, why string) string {
	if why == "" {
		why = "it was deleted or transferred, or the App or the token no longer has it"
	}
	return fmt.Sprintf("%s is not there to work on: %s; work goes on when it is back", name, why)
}

func renamed(name, to, other string) string {
	leads := "nowhere"
	if other != "" {
		leads = "to another repository, " + other
	}
	return fmt.Sprintf("%s was renamed to %s, and the name that it had now leads %s; work goes on when it has its name back", name, to, leads)
}

// settle returns the places after the forge was asked, and what people should know: of
// names that now are another repository's. Places that were not asked for stay as they are.
func settle(list forgeside.Repositories, kept []place, got forgeside.Resolved) (next []place, warnings []string) {
	byID, byName := map[int64]forge.Listed{}, map[string]forge.Listed{}
	for _, one := range got.Listed {
		byID[one.ID], byName[strings.ToLower(one.Name)] = one, one
	}
	for name, one := range got.Named {
		byID[one.ID], byName[strings.ToLower(name)] = one, one
	}
	known, named := map[int64]bool{}, map[string]bool{}
	for _, p := range kept {
		if p.belongs(list) {
			var warning string
			if p, warning = p.after(got, byID, byName); warning != "" {
				warnings = append(warnings, warning)
			}
		}
		known[p.ID], named[strings.ToLower(p.Name)] = true, true
		next = append(next, p)
	}
	add := func(name string, one forge.Listed) {
		switch p := (place{ID: one.ID, Name: name}); {
		case one.ID != 0 && known[one.ID]:
		case named[strings.ToLower(name)]:
			warnings = append(warnings, fmt.Sprintf("a new repository %s is not watched: the work on another one goes by that name, "+
				"which it had before it was renamed; rename the new one", name))
		default:
			known[p.ID], named[strings.ToLower(name)] = true, true
			next = append(next, p.seen(one))
		}
	}
	for _, name := range list.Exact() {
		one, found := byName[strings.ToLower(name)]
		if _, gone := got.Missing[name]; found {
			add(name, one)
		} else if !gone && !named[strings.ToLower(name)] {
			add(name, forge.Listed{Name: name})
		}
	}
	for _, one := range got.Listed {
		if list.Check(one.Name) == nil {
			add(one.Name, one)
		}
	}
	slices.SortFunc(next, func(a, b place) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return next, warnings
}

// doubted returns the places of the list that are listed by another name than they have
// here, before that name was looked up.
func doubted(list forgeside.Repositories, kept []place, got forgeside.Resolved) (names []string) {
	byID, listed := map[int64]forge.Listed{}, map[string]bool{}
	for _, one := range got.Listed {
		byID[one.ID], listed[strings.ToLower(one.Name)] = one, true
	}
	for _, p := range kept {
		one, there := byID[p.ID]
		if _, asked := got.Named[p.Name]; there && !asked && p.ID != 0 && p.belongs(list) && !listed[strings.ToLower(p.Name)] && owner(one.Name) == owner(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// after returns a place of the list after the forge was asked.
func (p place) after(got forgeside.Resolved, byID map[int64]forge.Listed, byName map[string]forge.Listed) (place, string) {
	one, there := byID[p.ID]
	if there = there && p.ID != 0 && owner(one.Name) == owner(p.Name); there {
		leads, known := byName[strings.ToLower(p.Name)]
		if _, nowhere := got.Missing[p.Name]; !known && !nowhere {
			return p, "" // to be asked again
		}
		if leads.ID != one.ID {
			return p.leave(renamed(p.Name, one.Name, leads.Name)), ""
		}
		return p.seen(one), ""
	}
	elsewhere := one.Name // it has another owner, if any
	if elsewhere != "" {
		p.ID = 0 // its events start at the beginning there
	}
	one, there = byName[strings.ToLower(p.Name)]
	switch {
	case there && owner(one.Name) == owner(p.Name):
		warning := ""
		if p.ID != 0 {
			warning = fmt.Sprintf("%s was deleted and recreated: the numbers of its issues now stand for other issues", p.Name)
		}
		p.ID = one.ID
		return p.seen(one), warning
	case elsewhere != "":
		return p.leave(removed(p.Name, "it was transferred to "+elsewhere)), ""
	case there:
		return p.leave(removed(p.Name, "it was transferred to "+one.Name)), ""
	}
	if why, missing := got.Missing[p.Name]; missing {
		return p.leave(removed(p.Name, why.Error())), ""
	}
	if _, unknown := got.Unknown[p.Name]; unknown || !got.Lists(p.Name) {
		return p, ""
	}
	return p.leave(removed(p.Name, "")), ""
}

// seen returns the place as the forge has it now.
func (p place) seen(one forge.Listed) place {
	p.Now = ""
	if one.Name != p.Name {
		p.Now = one.Name
	}
	if one.Archived {
		return p.leave(archived(one.Name))
	}
	p.Away, p.Rest = "", false
	return p
}

// leave returns the place away. The first reason stays: its instances have it.
func (p place) leave(why string) place {
	p.Away = cmp.Or(p.Away, why)
	return p
}

func owner(repo string) string {
	of, _, _ := strings.Cut(strings.ToLower(repo), "/")
	return of
}
