package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// Intake selects the people whose issues start work, and whose comments count. Permissions are those
// of the forge, from none over read, triage, write and maintain to admin.
type Intake struct {
	Start    string `name:"start" enum:"write,triage,read,anyone" default:"write" help:"The permission on the repository that a person needs to have an issue taken up: write, triage, read or anyone."`
	Admit    string `name:"admit-label" default:"signalbox" help:"Label by which a person with that permission has another's issue taken up; empty: there is none. --label stands in for it."`
	Hold     string `name:"hold-label" default:"signalbox:hold" help:"Label that holds work on an issue: it is not taken up, or it is paused, until the label is taken off; empty: there is none."`
	Hear     string `name:"hear" enum:"write,triage,read,anyone" default:"write" help:"The permission that a person needs whose comments are answers and are quoted to brains. Others' are kept as remarks."`
	Reporter bool   `name:"hear-reporter" help:"Hear the reporter of an issue on that issue, whatever the permission."`
	PerDay   int    `name:"per-author" default:"20" help:"How many issues, and how many remarks, of one person without write permission are taken a day; 0: any number."`
}

// DefaultIntake returns the defaults of the flags.
func DefaultIntake() Intake {
	return Intake{Start: "write", Admit: "signalbox", Hold: "signalbox:hold", Hear: "write", PerDay: 20}
}

// levels are the permissions of a forge, the lesser first.
var levels = [...]string{"none", "read", "triage", "write", "maintain", "admin"}

// reaches reports whether a permission is the needed one or more. Anyone, or no need at
// all, is reached by everybody.
func reaches(permission, need string) bool {
	return need == "" || need == "anyone" || slices.Index(levels[:], permission) >= slices.Index(levels[:], need)
}

// permissionFor is how long a permission that was read is used.
const permissionFor = time.Minute

// permissions reads permissions, and keeps each for a short time.
type permissions struct {
	forge forge.Reader
	repo  string
	now   func() time.Time

	mu    sync.Mutex
	known map[string]known
}

type known struct {
	permission string
	until      time.Time
}

// level returns the permission of a person now: none if the forge knows no such person.
func (p *permissions) level(ctx context.Context, login string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if k, ok := p.known[login]; ok && now.Before(k.until) {
		return k.permission, nil
	}
	permission, err := p.read(ctx, login)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(p.known, func(_ string, k known) bool { return !now.Before(k.until) })
	if p.known == nil {
		p.known = map[string]known{}
	}
	p.known[login] = known{permission, now.Add(permissionFor)}
	return permission, nil
}

// ofWords returns the permission that the words of a person count with: of an edited text
// the lesser one of author and editor. known is false if the forge does not say who edited
// it; then the text counts for nothing new.
func (p *permissions) ofWords(ctx context.Context, login, node string, edited bool) (permission string, known bool, err error) {
	permission, err = p.level(ctx, login)
	if err != nil || !edited {
		return permission, true, err
	}
	editor, known, err := p.editor(ctx, node)
	if err != nil || !known || editor == "" || editor == login {
		return permission, known, err
	}
	other, err := p.level(ctx, editor)
	return lesser(permission, other), true, err
}

// editor returns the login of who edited a text last, "" if nobody did.
func (p *permissions) editor(ctx context.Context, node string) (login string, known bool, err error) {
	editing, ok := p.forge.(forge.Editing)
	if !ok || node == "" {
		return "", false, nil
	}
	who, err := editing.Editor(ctx, p.repo, node)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrInvalid) {
		return "", false, nil
	}
	return who.Login, err == nil, err
}

// renamer returns the login of who gave an issue its title, "" if it has its first one.
func (p *permissions) renamer(ctx context.Context, issue int) (login string, known bool, err error) {
	renaming, ok := p.forge.(forge.Renaming)
	if !ok {
		return "", false, nil
	}
	who, err := renaming.Renamer(ctx, p.repo, issue)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrInvalid) {
		return "", false, nil
	}
	return who.Login, err == nil, err
}

// lesser returns the lesser one of two permissions.
func lesser(a, b string) string {
	if slices.Index(levels[:], b) < slices.Index(levels[:], a) {
		return b
	}
	return a
}

// read returns the permission as the forge has it at this moment.
func (p *permissions) read(ctx context.Context, login string) (string, error) {
	permission, err := p.forge.Permission(ctx, p.repo, login)
	if errors.Is(err, forge.ErrDenied) {
		// If the token is still good, only this person cannot be read; the others are heard.
		_, err = p.forge.Self(ctx)
		permission = "none"
	}
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid) {
		permission, err = "none", nil
	}
	if err != nil {
		return "", err
	}
	return cmp.Or(permission, "none"), nil
}

// admission is whether an issue is taken up, and by whose word.
type admission struct {
	permission string // of the author
	by         string // who set the label, if the author may not start work
	refused    string // why it is not taken up; "" if it is
}

// admit decides whether an issue is taken up.
func (p *poller) admit(ctx context.Context, issue forge.Issue) (a admission, err error) {
	if a.permission, err = p.permissions.level(ctx, issue.Author.Login); err != nil || reaches(a.permission, p.intake.Start) {
		return a, err
	}
	if ours, err := p.followsMerge(ctx, issue); ours || err != nil {
		return a, err
	}
	label := cmp.Or(p.label, p.intake.Admit)
	a.refused = fmt.Sprintf("%s has the permission %s, and starting work takes %s", issue.Author.Login, a.permission, p.intake.Start)
	if !p.labelled(issue) {
		return a, nil
	}
	setter, err := p.reader.LabelSetter(ctx, p.repo, issue.Number, label)
	if errors.Is(err, forge.ErrNotFound) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	permission, err := p.permissions.level(ctx, setter)
	if err != nil {
		return a, err
	}
	if setter == issue.Author.Login || !reaches(permission, p.intake.Start) {
		a.refused = fmt.Sprintf("%s; so does %s, who set the label %s and has the permission %s", a.refused, setter, label, permission)
		return a, nil
	}
	return admission{permission: a.permission, by: setter}, nil
}

// followsMerge reports whether an issue is the shepherd's about checks that went red after
// a merge. The person who had that work done has this done too: an App's bot has no permission that
// the forge shows.
func (p *poller) followsMerge(ctx context.Context, issue forge.Issue) (bool, error) {
	if _, key, ok := rules.FindMarker(issue.Body); !ok || key != rules.FollowsMerge {
		return false, nil
	}
	self, err := p.reader.Self(ctx)
	return err == nil && issue.Author.Login == self, err
}

// begin notes at the first poll of a repository which issues were open before.
func (p *poller) begin(c *cursor, issues []forge.Issue) {
	if c.Begun || !c.Since.IsZero() || p.all || p.label != "" { // or an earlier build took up all there were
		return
	}
	c.Begun = true
	left := 0
	for _, issue := range issues {
		if c.Old = max(c.Old, issue.Number); !p.labelled(issue) {
			left++
		}
	}
	if left > 0 {
		p.log.Warn("issues that were open before are left alone: a label, or --all, has them taken up", "issues", left,
			"label", p.intake.Admit)
	}
}

// isOld reports whether an issue was open before the first poll, and nobody labelled it.
func (p *poller) isOld(c cursor, issue forge.Issue) bool {
	return !p.all && p.label == "" && issue.Number <= c.Old && !p.labelled(issue)
}

// labelled reports whether an issue has the label by which it is taken up.
func (p *poller) labelled(issue forge.Issue) bool {
	label := cmp.Or(p.label, p.intake.Admit)
	return change.HasLabel(issue, label)
}

// heard reports whether the words of a person count, and with which permission. Of an
// edited text node is the id.
func (p *poller) heard(ctx context.Context, issue forge.Issue, login, node string, edited bool) (permission string, counts bool, err error) {
	permission, known, err := p.permissions.ofWords(ctx, login, node, edited)
	if err != nil {
		return "", false, err
	}
	counts = reaches(permission, p.intake.Hear) || p.intake.Reporter && login != "" && login == issue.Author.Login
	if edited && counts && !reaches(permission, p.intake.Hear) { // the reporter is heard, an editor of those words is not
		editor, named, err := p.permissions.editor(ctx, node)
		if err != nil {
			return "", false, err
		}
		counts = named && (editor == "" || editor == login)
	}
	return permission, counts && known, err
}

// day is how long an issue or a remark counts against its author's limit.
const day = 24 * time.Hour

// spend counts one more issue or remark of a person without write permission. It
// returns false if that is too many for a day.
func (p *poller) spend(c *cursor, kind, login, permission string) bool {
	if p.intake.PerDay <= 0 || instance.MayWrite(permission) {
		return true
	}
	now, key := p.permissions.now(), kind+" "+login
	recent := slices.DeleteFunc(slices.Clone(c.Spent[key]), func(at time.Time) bool { return now.Sub(at) >= day })
	if len(recent) >= p.intake.PerDay {
		p.refuse(kind+" limit", login, fmt.Sprintf("%s has had %d taken within a day", login, len(recent)))
		return false
	}
	if c.Spent == nil {
		c.Spent = map[string][]time.Time{}
	}
	c.Spent[key] = append(recent, now)
	return true
}

// refuse counts and logs what is not taken.
func (p *poller) refuse(what, who, why string) {
	if p.refused != nil {
		p.refused.WithLabelValues(p.repo, what).Inc()
	}
	p.log.Info("not taken", "what", what, "who", who, "why", why)
}

// newRefused returns the counter of what the gateway does not take.
func newRefused(r prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_gateway_refused_total", Help: "Issues and remarks that were not taken, and comments that were taken as remarks.",
	}, []string{"repo", "what"})
	r.MustRegister(c)
	return c
}
