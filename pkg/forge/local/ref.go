package local

import (
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

func listBranches(c *call) (int, any, error) {
	refs, err := c.f.refs(c.Context(), c.name())
	if err != nil {
		return 0, nil, err
	}
	var names []string
	for ref := range refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	v := c.view()
	return http.StatusOK, each(page(c, names), func(name string) object {
		sha := refs["refs/heads/"+name]
		_, protected := c.repo.demands(name)
		return object{"name": name, "protected": protected, "commit": object{"sha": sha, "url": v.repoAPI(c.repo) + "/commits/" + sha}}
	}), nil
}

func getBranch(c *call) (int, any, error) {
	name := c.PathValue("branch")
	if strings.HasSuffix(name, "/protection") {
		return getGuard(c)
	}
	refs, err := c.f.refs(c.Context(), c.name())
	if err != nil {
		return 0, nil, err
	}
	sha, ok := refs["refs/heads/"+name]
	if !ok {
		return 0, nil, &failure{status: http.StatusNotFound, message: "Branch not found"}
	}
	commits, err := c.f.commits(c.Context(), c.name(), "--no-walk=unsorted", sha)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	self := v.repoAPI(c.repo) + "/branches/" + escapePath(name)
	protected, protection := v.branchGuard(c.repo, name)
	return http.StatusOK, object{
		"name": name, "commit": v.commit(c.repo, commits[0]), "protected": protected, "protection": protection,
		"protection_url": self + "/protection",
		"_links":         object{"self": self, "html": v.repoURL(c.repo) + "/tree/" + escapePath(name)},
	}, nil
}

func (v view) ref(r repo, ref, sha string) object {
	return object{
		"ref": ref, "node_id": "REF_" + ref, "url": v.repoAPI(r) + "/git/" + escapePath(ref),
		"object": object{"type": "commit", "sha": sha, "url": v.repoAPI(r) + "/git/commits/" + sha},
	}
}

func getRef(c *call) (int, any, error) {
	refs, err := c.f.refs(c.Context(), c.name())
	if err != nil {
		return 0, nil, err
	}
	ref := "refs/" + c.PathValue("ref")
	sha, ok := refs[ref]
	if !ok {
		return 0, nil, errNotFound
	}
	return http.StatusOK, c.view().ref(c.repo, ref, sha), nil
}

// zero is the SHA of what is not there.
const zero = "0000000000000000000000000000000000000000"

func createRef(c *call) (int, any, error) {
	var in struct{ Ref, SHA string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if !movable(in.Ref) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference name is invalid"}
	}
	g := c.f.git(c.name())
	if _, err := g.Run(c.Context(), "check-ref-format", in.Ref); err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference name is invalid"}
	}
	if !hexPattern.MatchString(in.SHA) || len(in.SHA) != len(zero) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "The sha parameter must be exactly 40 characters."}
	}
	if _, err := c.f.commit(c.Context(), c.name(), in.SHA); err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Object does not exist"}
	}
	_, err := g.Run(c.Context(), "update-ref", in.Ref, in.SHA, zero)
	if git.ExitCode(err) > 0 {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference already exists"}
	}
	if err == nil {
		err = c.recordMove(push{Ref: in.Ref, Before: zero, After: in.SHA})
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().ref(c.repo, in.Ref, in.SHA), nil
}

// movable tells whether clients may make and delete the ref.
func movable(ref string) bool {
	return strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/")
}

func deleteRef(c *call) (int, any, error) {
	ref := "refs/" + c.PathValue("ref")
	refs, err := c.f.refs(c.Context(), c.name())
	if err != nil {
		return 0, nil, err
	}
	sha, ok := refs[ref]
	switch {
	case !ok:
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference does not exist"}
	case !movable(ref), ref == "refs/heads/"+c.repo.Branch:
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Cannot delete this reference"}
	}
	if _, err := c.f.git(c.name()).Run(c.Context(), "update-ref", "-d", ref, sha); err != nil {
		return 0, nil, err
	}
	if err := c.recordMove(push{Ref: ref, Before: sha, After: zero}); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, c.f.follow(c.Context(), c.name(), c.user.ID)
}

// recordMove writes down that the caller moved a branch.
func (c *call) recordMove(p push) error {
	if !strings.HasPrefix(p.Ref, "refs/heads/") {
		return nil
	}
	return c.change(func(t *tx, _ repo) error {
		p.Actor = c.user.ID
		t.moved(c.name(), p)
		return nil
	})
}
