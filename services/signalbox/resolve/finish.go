package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// finish fetches the branch into the repository and prints the outcome.
func (r *run) finish(ctx context.Context, at forge.Repository, waits bool) error {
	in, err := r.client.Get(ctx, r.id())
	if err != nil {
		return err
	}
	out := outcome(in, r.source)
	branch, pull := handedIn(in, at.DefaultBranch)
	if waits || branch == "" {
		why := r.unresolved(ctx, in, waits, &out)
		if err := r.print(in, out); err != nil {
			return fmt.Errorf("%w (%v)", err, why)
		}
		return why
	}
	if out.Branch, err = r.source.fetch(ctx, at.CloneURL, r.system.Forge.Secret, branch, r.renamed(branch)); err != nil {
		return err
	}
	if out.Commits, err = r.source.commits(ctx, out.Branch); err != nil {
		return err
	}
	if r.earlier {
		r.n.Say("resolved already on %s; --again resolves it again", out.Branch)
	}
	r.n.Say("\nbranch %s is in %s, based on %s; the log is in %s", out.Branch, r.source.dir, r.source.branch, r.dir)
	if ref, _ := r.source.attested(ctx, out.Branch); ref != "" {
		r.n.Say("to verify how it came about: signalbox verify %s --repository %s --key %s", term.Quote(out.Branch), term.Quote(r.source.dir),
			term.Quote(attestation.PublicFile(allinone.KeyFile(r.dir))))
	}
	if p := in.GetParked(); p != nil {
		r.n.Say("%s goes on where a forge has people: %s", in.GetState(), p.GetReason())
	}
	if pull != "" {
		pr, err := r.forge.PullRequestByHead(ctx, r.source.name, branch)
		if err != nil {
			return err
		}
		out.PullRequest = &PullRequest{Title: pr.Title, Body: r.exported(pr.Body), Draft: pr.Draft, Evidence: evidenceOf(in)}
	}
	err = errors.Join(r.handOver(ctx, &out), r.print(in, out))
	r.n.Say("  signalbox history %s --data %s", r.id(), term.Quote(r.dir))
	last, verdict := ending(proofOf(in), r.require)
	if verdict != nil && !r.tester {
		r.n.Say("no agent wrote tests: add --brain tester.creating_tests=exec:COMMAND, and --again")
	}
	if last != "" {
		r.n.Say("%s", last)
	}
	return errors.Join(err, verdict)
}

// Branch returns the branch that an instance which has ended hands in; empty if there is
// none, or it is the base.
func Branch(in *pb.Instance, base string) string {
	branch, _ := handedIn(in, base)
	return branch
}

// handedIn returns the branch and the pull request of the instance. There is no branch
// where it is the base, which is all that an early state has, or where the work goes on.
func handedIn(in *pb.Instance, base string) (branch, pull string) {
	data := in.GetLastResult().GetData()
	branch, pull = cmp.Or(data["branch"], in.GetVars()["branch"]), cmp.Or(data["pr_url"], data["prNumber"], in.GetVars()["prNumber"])
	if pull == "0" {
		pull = ""
	}
	if branch == base || pull == "" && in.GetClosed() != string(instance.Ended) {
		branch = ""
	}
	return branch, pull
}

// unresolved prints what would help and returns why there is no branch, as a
// service.WaitError if people can help.
func (r *run) unresolved(ctx context.Context, in *pb.Instance, waits bool, out *Outcome) error {
	if questions := openQuestions(in); waits && len(questions) > 0 {
		r.n.Say("\nit waits for answers; give them with --answers FILE, one line a question (Q1: …):\n")
		for _, q := range questions {
			r.n.Say("Q%d: %s", q.GetNumber(), plain(q.GetText()))
		}
		return &service.WaitError{Err: fmt.Errorf("%w: %s waits in %s", ErrUnresolved, r.id(), in.GetState())}
	}
	if waits {
		r.n.Say("\nIt needs a decision from you. Write it to a file and run again with --answers FILE:\n\n%s", obstacle(in))
		if !r.env.Person {
			r.n.Say("\nWithout --answers it starts again on the newest commit. A mended .signalbox.yaml counts only then.")
		}
		r.looks(in)
		why, _, _ := strings.Cut(obstacle(in), "\n")
		return &service.WaitError{Err: fmt.Errorf("%w: %s waits in %s: %s", ErrUnresolved, r.id(), in.GetState(), why)}
	}
	why := r.lastScreen(ctx, in, out)
	how := "ended in"
	if in.GetClosed() == "" {
		how = "came to a stop in"
	}
	return fmt.Errorf("%w: %s %s %s: %s", ErrUnresolved, r.id(), how, in.GetState(), why)
}

// lastScreen prints why a run ended without a branch, what there is of the work, and the
// commands that go on. It returns the cause in a line.
func (r *run) lastScreen(ctx context.Context, in *pb.Instance, out *Outcome) string {
	seen := view.Explain(r.env, r.def, view.Of(in))
	failed := strings.TrimSpace(cmp.Or(seen.Failed, in.GetLastResult().GetSummary()))
	r.n.Say("\n%s", term.Text(beginning(failed)))
	if tried := tried(in); tried != "" {
		r.n.Say("\ntried: %s", tried)
	}
	var err error
	switch out.Unfinished, err = r.unfinished(ctx, in, failed); {
	case err != nil:
		r.n.Say("the work so far could not be brought into the repository: %v", err)
	case out.Unfinished != "":
		r.n.Say("branch %s is in %s: the work as far as it came", out.Unfinished, r.source.dir)
	}
	r.looks(in)
	return cause(in)
}

// looks prints the commands that show how the work stands, and the work.
func (r *run) looks(in *pb.Instance) {
	at := r.id() + " --data " + term.Quote(r.dir)
	r.n.Say("\nnext:\n  signalbox explain %s", at)
	if in.GetHead() != in.GetBase() {
		r.n.Say("  signalbox diff %s", at)
	} else {
		r.n.Say("  signalbox logs %s", at)
	}
}

// beginning returns the first lines of a text.
func beginning(text string) string {
	const most = 25
	lines := strings.Split(text, "\n")
	if len(lines) > most {
		lines = append(lines[:most:most], "…")
	}
	return strings.Join(lines, "\n")
}

// cause returns in a line why the instance ended. It names the tests that fail on its newest
// commit: a step that found nothing to change came after them.
func cause(in *pb.Instance) string {
	why := in.GetReason()
	for _, e := range in.GetEvidence() {
		if e.GetOk() || e.GetCommit() != in.GetHead() || e.GetName() != work.Tests || len(e.GetFailed()) == 0 {
			continue
		}
		const most = 3
		names := e.GetFailed()
		more := ""
		if len(names) > most {
			more = fmt.Sprintf(" and %d more", len(names)-most)
			names = names[:most]
		}
		why += "; these tests fail: " + term.Line(strings.Join(names, ", ")) + more
	}
	return why
}

// tried lists the states that the work came to several times, with how often.
func tried(in *pb.Instance) string {
	var all []string
	for _, v := range in.GetVisits() {
		if v.GetCount() > 1 {
			all = append(all, fmt.Sprintf("%s %d times", v.GetState(), v.GetCount()))
		}
	}
	return strings.Join(all, ", ")
}

// print writes the outcome to standard output and to the files.
func (r *run) print(in *pb.Instance, out Outcome) error {
	document, err := r.document(in, out)
	if err != nil {
		return err
	}
	if err := r.files.write(document, markdown(r.issue, in, out)); err != nil {
		return err
	}
	if r.env.JSON {
		out.Document = document
		return r.env.Print(out)
	}
	if pr := out.PullRequest; pr != nil {
		title, body := pr.Title, pr.Body
		if r.env.Terminal {
			title, body = sanitize.TerminalLine(title), sanitize.Terminal(body)
		}
		r.env.Printf("# %s\n\n%s\n", title, body)
	}
	return nil
}

// exported returns a pull request's description for use outside of the local forge:
// without the marker, and with the original issue's number or none.
func (r *run) exported(text string) string {
	text, _, _ = strings.Cut(text, "\n<!-- signalbox ")
	closes := ""
	if r.issue.Repo != "" {
		closes = fmt.Sprintf("Closes #%d.\n\n", r.issue.Number)
	}
	return strings.TrimSpace(strings.Replace(text, fmt.Sprintf("Closes #%d.\n\n", r.number), closes, 1))
}

// renamed returns the branch name with the number of the original issue.
func (r *run) renamed(branch string) string {
	local := fmt.Sprintf("issue-%d", r.number)
	before, after, found := strings.Cut(branch, local)
	if r.issue.Repo == "" || !found || after != "" && after[0] != '-' {
		return branch
	}
	return fmt.Sprintf("%sissue-%d%s", before, r.issue.Number, after)
}
