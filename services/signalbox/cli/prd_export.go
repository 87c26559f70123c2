package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type prdExport struct {
	planFlags
	Output string `name:"output" short:"o" env:"-" placeholder:"FILE" help:"Where it is written; by default where it was read. - is standard output."`
}

// storyProgress is the JSON of `prd export`: how a story differs from its plan.
type storyProgress struct {
	Instance       string `json:"instance"`
	Story          string `json:"story"`
	From           string `json:"from"` // statuses
	Status         string `json:"status"`
	PRNumber       int    `json:"prNumber"`
	LastActivityBy string `json:"lastActivityBy"`
	Branch         string `json:"branchName"`
}

// Run writes the progress of the stories to the plan.
func (c prdExport) Run(ctx context.Context, env *term.Env) error {
	plan, err := c.read()
	if err != nil {
		return err
	}
	progress := map[string]prd.Progress{}
	err = c.call(ctx, env, func(ctx context.Context, s system) error {
		for _, story := range plan.Stories {
			in, err := s.Get(ctx, c.name(story))
			if no := new(instance.Refusal); errors.As(err, &no) && no.Code == instance.CodeUnknownInstance {
				continue
			}
			if err != nil {
				return err
			}
			if p, ok := progressOf(in); ok {
				progress[story.ID] = p
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := plan.Update(progress)
	if c.Output == "-" {
		_, err := env.Stdout.Write(out)
		return err
	}
	if err := c.write(out); err != nil {
		return err
	}
	return c.print(env, plan, progress)
}

// progressOf returns the progress of a story; ok is false for an instance that is no
// story. A cancelled story counts as skipped.
func progressOf(in *pb.Instance) (p prd.Progress, ok bool) {
	p.Status = prd.Status(in.GetState())
	if in.GetClosed() == string(instance.Cancelled) {
		p.Status = prd.Skipped
	}
	p.LastActivityBy, p.Branch = in.GetVars()["lastActivityBy"], in.GetVars()["branch"]
	p.PR, _ = strconv.Atoi(in.GetVars()["prNumber"])
	return p, slices.Contains(prd.Statuses(), p.Status) && in.GetVars()["story"] != ""
}

// write replaces the plan file atomically.
func (c prdExport) write(out []byte) error {
	name := c.Output
	if name == "" {
		name = c.File
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
		if was, err := os.ReadFile(name); err == nil && bytes.Equal(was, out) {
			return nil
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, bytes.NewReader(out))
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// print prints what has changed.
func (c prdExport) print(env *term.Env, plan *prd.File, progress map[string]prd.Progress) error {
	for _, s := range plan.Stories {
		p, ok := progress[s.ID]
		if !ok || p.Status == s.Status && p.PR == s.PR && p.LastActivityBy == s.LastActivityBy && (p.Branch == s.Branch || p.Branch == "") {
			continue
		}
		if env.JSON {
			if err := env.Print(storyProgress{c.name(s), s.ID, string(s.Status), string(p.Status), p.PR, p.LastActivityBy, p.Branch}); err != nil {
				return err
			}
			continue
		}
		said := string(s.Status)
		if p.Status != s.Status {
			said += " → " + string(p.Status)
		}
		if p.PR > 0 {
			said += ", pull request #" + strconv.Itoa(p.PR)
		}
		if p.LastActivityBy != "" {
			said += ", last activity by " + p.LastActivityBy
		}
		env.Printf("%s: %s\n", term.Line(s.ID), term.Line(said))
	}
	return nil
}
