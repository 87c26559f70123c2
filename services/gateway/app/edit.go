package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// textOf returns the issue's text for an instance, without our markers.
func textOf(title, body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	if id, key, ok := rules.FindMarker(body); ok {
		body = strings.Replace(body, rules.Marker(id, key), "", 1)
	}
	return rules.NowReads + strings.TrimSpace(strings.TrimSpace(title)+"\n\n"+strings.TrimSpace(body))
}

// edited tells the instance of an issue the new title and text, as words of the author. They
// count with the least permission of the author, who edited the text, and who gave the title. Where people are
// asked they are an answer.
func (p *poller) edited(ctx context.Context, issue forge.Issue, next *cursor) error {
	if p.wasCompared(issue) {
		return nil
	}
	name := Name(p.repo, issue.Number)
	in, err := p.client.Get(ctx, name)
	if err != nil {
		return p.dropRefusal(name, err)
	}
	text, known, times := textOf(issue.Title, issue.Body), textOf(in.GetIssue().GetTitle(), in.GetIssue().GetBody()), 0
	for _, n := range in.GetNotes() {
		if strings.HasPrefix(n.GetText(), rules.NowReads) {
			known = n.GetText()
			times++
		}
	}
	own := in.GetIssue().GetRepo() == p.repo && int(in.GetIssue().GetNumber()) == issue.Number
	if own && text != known && in.GetClosed() == "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", times, text))
		err = p.tellEdit(ctx, in, issue, text, "edited/"+issue.NodeID+"/"+hex.EncodeToString(sum[:16]), next)
	}
	if err == nil {
		p.compare(issue)
	}
	return err
}

func (p *poller) tellEdit(ctx context.Context, in *pb.Instance, issue forge.Issue, text, command string, next *cursor) error {
	permission, counts, err := p.heard(ctx, issue, issue.Author.Login, issue.NodeID, true)
	if err == nil && counts {
		permission, counts, err = p.titled(ctx, issue, permission)
	}
	if err != nil {
		return err
	}
	name, kind := in.GetInstance(), rules.Edited
	_, held := waitingSince(in)
	switch {
	case !counts && !p.spend(next, "remark", issue.Author.Login, permission):
		return nil
	case !counts:
		kind = instance.Remarked
		p.refuse("edit", issue.Author.Login, fmt.Sprintf("%s: %s, or who edited it, has the permission %s or is not known, and being heard takes %s", name,
			issue.Author.Login, permission, p.intake.Hear))
	case in.GetKind() == string(workflow.Wait) && !held && len(openTo(in)) > 0:
		kind = "commented"
	}
	_, err = p.client.Signal(ctx, name, kind, command, issue.Author.Login, map[string]string{
		"body": text, "url": issue.URL, "permission": permission,
	})
	return p.dropRefusal(name, err)
}

// titled reports whether words that count with a permission do so with a title that another may
// have given the issue, and with which permission.
func (p *poller) titled(ctx context.Context, issue forge.Issue, permission string) (least string, counts bool, err error) {
	who, known, err := p.permissions.renamer(ctx, issue.Number)
	if err != nil || !known || who == "" || who == issue.Author.Login {
		return permission, known, err
	}
	other, err := p.permissions.of(ctx, who)
	return lesser(permission, other), reaches(other, p.intake.Hear), err
}

// wasCompared reports whether the text of the issue, as of its last change, was held
// against what the instance knows.
func (p *poller) wasCompared(issue forge.Issue) bool {
	p.saving.Lock()
	defer p.saving.Unlock()
	at, ok := p.compared[issue.Number]
	return ok && at.Equal(issue.UpdatedAt)
}

func (p *poller) compare(issue forge.Issue) {
	p.saving.Lock()
	defer p.saving.Unlock()
	if p.compared == nil {
		p.compared = map[int]time.Time{}
	}
	p.compared[issue.Number] = issue.UpdatedAt
}
