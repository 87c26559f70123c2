package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/pm/app"
)

// unfinished brings the work of an instance that ended without a branch into the repository,
// on a branch NAME-unfinished. Its last commit is empty and says in its message why the work
// is not finished. Without any change it returns "".
func (r *run) unfinished(ctx context.Context, in *pb.Instance, why string) (branch string, err error) {
	if in.GetClosed() == "" || len(in.GetBundles()) < 2 || in.GetHead() == in.GetBase() {
		return "", nil
	}
	t, err := r.source.newTransfer(ctx)
	if err != nil {
		return "", err
	}
	defer t.close()
	var files []string
	for i, b := range in.GetBundles()[1:] { // the first has the base, which is there
		file := filepath.Join(t.dir, fmt.Sprintf("work-%d.bundle", i))
		if err := r.object(ctx, b.GetObject(), file); err != nil {
			return "", err
		}
		files = append(files, file)
	}
	name := cmp.Or(in.GetVars()["branch"], in.GetLastResult().GetData()["branch"])
	if name == "" || name == r.source.branch {
		name = app.Branch(instance.Issue{Number: r.number, Title: r.issue.Title})
	}
	message := sanitize.Subject("Unfinished: "+in.GetReason()) + "\n\n" + why + "\n\nSignalbox-Instance: " + r.id() + "\n"
	bundle, head, err := t.unbundle(ctx, files, r.source.head, in.GetHead(), message)
	return r.source.take(ctx, bundle, head, r.renamed(name)+"-unfinished", err)
}

// object writes an object of the instance into a file.
func (r *run) object(ctx context.Context, name, file string) error {
	from, err := r.client.GetObject(ctx, client.Holder{Instance: r.id()}, name)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close(), from.Close())
}

// resolved returns the newest instance of the same report that an earlier call resolved; nil:
// there is none.
func (r *run) resolved(ctx context.Context, base string) (*pb.Instance, error) {
	all, err := r.client.List(ctx, &pb.ListRequest{All: true, Workflow: r.def.Name})
	if err != nil {
		return nil, err
	}
	var newest *pb.Instance
	most := 0
	for _, in := range all {
		prefix, number := cutLast(in.GetInstance())
		if prefix != r.source.name || in.GetTitle() != r.issue.Title || in.GetClosed() != string(instance.Ended) || number < most {
			continue
		}
		whole, err := r.client.Get(ctx, in.GetInstance())
		if err != nil {
			return nil, err
		}
		if Branch(whole, base) == "" || strings.TrimSpace(whole.GetIssue().GetBody()) != strings.TrimSpace(r.issue.Body) {
			continue
		}
		newest, most = whole, number
	}
	return newest, nil
}
