package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// maxPicture is how many bytes a picture may have.
const maxPicture = 4 << 20

// demoOf returns the newest demonstration of an instance; nil if there is none.
func demoOf(in view.Instance) *instance.Demo {
	for _, ev := range slices.Backward(in.Evidence) {
		if ev.Demo != nil {
			return ev.Demo
		}
	}
	return nil
}

// demoSide is one half of a demonstration on a page.
type demoSide struct {
	ID, When string
	Run      instance.DemoRun
}

// pictureURL returns the address of a picture that an instance has.
func pictureURL(id string, a *instance.Artifact) string {
	return "/picture/" + a.SHA256 + strings.TrimPrefix(instanceURL(id), "/i")
}

// picture serves a picture of a demonstration, by its hash and its instance.
func (c *Console) picture(w http.ResponseWriter, r *http.Request, s *session) {
	id, hash := r.PathValue("id"), r.PathValue("hash")
	if err := subject.CheckInstance(id); err != nil {
		c.fault(w, r, s, http.StatusNotFound, "There is no instance of this name: "+err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	in, err := c.cache.get(ctx, id)
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	i := slices.IndexFunc(in.Artifacts, func(a instance.Artifact) bool { return a.SHA256 == hash && strings.HasSuffix(a.Name, ".png") })
	if i < 0 {
		c.fault(w, r, s, http.StatusNotFound, "The instance has no such picture.")
		return
	}
	content, err := c.object(ctx, id, in.Artifacts[i].Object)
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("X-Content-Type-Options", "nosniff") // a program made it
	w.Header().Set("Cache-Control", "private, max-age=3600")
	_, _ = w.Write(content) // a reader that has gone needs no answer
}

// object reads a picture from the object store.
func (c *Console) object(ctx context.Context, id, name string) (content []byte, err error) {
	o, err := c.client.GetObject(ctx, client.Holder{Instance: id}, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	return io.ReadAll(io.LimitReader(o, maxPicture))
}
