package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func listBranches(c *call) (int, any, error) {
	refs, err := c.Git().Refs(c.Context())
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
		_, protected := rules.Of(c.Repo, name)
		return object{"name": name, "protected": protected, "commit": object{"sha": sha, "url": v.RepoAPI(c.Repo) + "/commits/" + sha}}
	}), nil
}

func getBranch(c *call) (int, any, error) {
	name := c.PathValue("branch")
	if strings.HasSuffix(name, "/protection") {
		return getGuard(c)
	}
	refs, err := c.Git().Refs(c.Context())
	if err != nil {
		return 0, nil, err
	}
	sha, ok := refs["refs/heads/"+name]
	if !ok {
		return 0, nil, &failure{status: http.StatusNotFound, message: "Branch not found"}
	}
	commits, err := c.Git().Commits(c.Context(), "--no-walk=unsorted", sha)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	self := v.RepoAPI(c.Repo) + "/branches/" + escapePath(name)
	protected, protection := v.branchGuard(c.Repo, name)
	return http.StatusOK, object{
		"name": name, "commit": v.commit(c.Repo, commits[0]), "protected": protected, "protection": protection,
		"protection_url": self + "/protection",
		"_links":         object{"self": self, "html": v.RepoURL(c.Repo) + "/tree/" + escapePath(name)},
	}, nil
}

func (v view) ref(r store.Repo, ref, sha string) object {
	return object{
		"ref": ref, "node_id": "REF_" + ref, "url": v.RepoAPI(r) + "/git/" + escapePath(ref),
		"object": object{"type": "commit", "sha": sha, "url": v.RepoAPI(r) + "/git/commits/" + sha},
	}
}

func getRef(c *call) (int, any, error) {
	refs, err := c.Git().Refs(c.Context())
	if err != nil {
		return 0, nil, err
	}
	ref := "refs/" + c.PathValue("ref")
	sha, ok := refs[ref]
	if !ok {
		return 0, nil, host.ErrNotFound
	}
	return http.StatusOK, c.view().ref(c.Repo, ref, sha), nil
}

func createRef(c *call) (int, any, error) {
	var in struct{ Ref, SHA string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if !movable(in.Ref) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference name is invalid"}
	}
	g := c.Git()
	if _, err := g.Run(c.Context(), "check-ref-format", in.Ref); err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference name is invalid"}
	}
	if !bare.IsSHA(in.SHA) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "The sha parameter must be exactly 40 characters."}
	}
	if _, err := c.Git().Resolve(c.Context(), in.SHA); err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Object does not exist"}
	}
	_, err := g.Run(c.Context(), "update-ref", in.Ref, in.SHA, store.ZeroSHA)
	if git.ExitCode(err) > 0 {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference already exists"}
	}
	if err == nil {
		err = c.recordMove(store.Push{Ref: in.Ref, Before: store.ZeroSHA, After: in.SHA})
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().ref(c.Repo, in.Ref, in.SHA), nil
}

// movable reports whether clients may create and delete the ref.
func movable(ref string) bool {
	return strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/")
}

func deleteRef(c *call) (int, any, error) {
	ref := "refs/" + c.PathValue("ref")
	refs, err := c.Git().Refs(c.Context())
	if err != nil {
		return 0, nil, err
	}
	sha, ok := refs[ref]
	switch {
	case !ok:
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference does not exist"}
	case !movable(ref), ref == "refs/heads/"+c.Repo.Branch:
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Cannot delete this reference"}
	}
	if _, err := c.Git().Run(c.Context(), "update-ref", "-d", ref, sha); err != nil {
		return 0, nil, err
	}
	if err := c.recordMove(store.Push{Ref: ref, Before: sha, After: store.ZeroSHA}); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, c.Forge.Follow(c.Context(), c.Name(), c.User.ID)
}

// recordMove records that the user moved a branch.
func (c *call) recordMove(p store.Push) error {
	if !strings.HasPrefix(p.Ref, "refs/heads/") {
		return nil
	}
	return c.Change(func(t *store.Tx, _ store.Repo) error {
		p.Actor = c.User.ID
		t.RecordPush(c.Name(), p)
		return nil
	})
}
