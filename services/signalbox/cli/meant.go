package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// lister lists instances. Every reader is one.
type lister interface {
	List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error)
}

// meant returns the error, if it is about an unknown instance with the one that was
// probably meant.
func meant(ctx context.Context, l lister, err error) error {
	no := new(instance.Refusal)
	if !errors.As(err, &no) || no.Code != instance.CodeUnknownInstance {
		return err
	}
	all, failed := l.List(ctx, &pb.ListRequest{All: true})
	if failed != nil {
		return err
	}
	ids := make([]string, len(all))
	for i, s := range all {
		ids[i] = s.GetInstance()
	}
	if id := likely(no.Instance, ids); id != "" {
		return fmt.Errorf("%w; did you mean %s?", err, id)
	}
	return err
}

// completed calls f. Where f finds no instance of the id, and the id is the end of exactly
// one, it calls f again with that one's id. f has changed nothing by then.
func completed(ctx context.Context, l lister, id *string, f func() error) error {
	err := f()
	no := new(instance.Refusal)
	if !errors.As(err, &no) || no.Code != instance.CodeUnknownInstance || no.Instance != *id {
		return err
	}
	all, failed := l.List(ctx, &pb.ListRequest{All: true})
	if failed != nil {
		return err
	}
	var ends []string
	for _, s := range all {
		if strings.HasSuffix(s.GetInstance(), "/"+plain(*id)) {
			ends = append(ends, s.GetInstance())
		}
	}
	if len(ends) != 1 {
		return err
	}
	*id = ends[0]
	return f()
}

// plain is an id as people write it, acme/widgets#12 or #12, without the sign.
func plain(id string) string { return strings.ReplaceAll(strings.TrimPrefix(id, "#"), "#", "/") }

// likely returns the id that a wrong one stands for: the only one that ends with it, or the
// nearest of the same number. Another number is another issue.
func likely(wrong string, ids []string) string {
	wrong = plain(wrong)
	number := wrong[strings.LastIndexByte(wrong, '/')+1:]
	var end, same []string
	for _, id := range ids {
		if strings.HasSuffix(id, "/"+wrong) {
			end = append(end, id)
		}
		if strings.HasSuffix(id, "/"+number) {
			same = append(same, id)
		}
	}
	if len(end) == 1 {
		return end[0]
	}
	return workflow.Nearest(wrong, same)
}

// orMeant returns "; did you mean NAME?" for the nearest of the known names, or "".
func orMeant(name string, known []string) string {
	if near := workflow.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
