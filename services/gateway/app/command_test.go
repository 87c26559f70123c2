package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// posts is a PM that does nothing but post.
func posts(on forge.Poster) func(context.Context, forgeside.CommentRequest) error {
	return func(ctx context.Context, w forgeside.CommentRequest) error {
		_, err := forge.Post(ctx, on, w.Repo, w.Number, rules.Marker(w.Instance, w.Key), w.Body)
		return err
	}
}

// commander is a gateway that has just started, as far as it carries out commands. Its
// answers are checked as those of the PM are.
func (e *env) commander(p *poller, who ...string) *commander {
	e.Helper()
	may := map[string]string{}
	for _, w := range who {
		verb, role, _ := strings.Cut(w, "=")
		may[verb] = role
	}
	g, err := command.NewGrammar("signalbox", may)
	if err != nil {
		e.Fatal(err)
	}
	p.grammar = g
	pr := e.pulls()
	pr.grammar = g
	secrets, err := secret.New()
	if err != nil {
		e.Fatal(err)
	}
	us := forgeside.NewForge(e.forge.Client("signalbox"), outbound.New(outbound.DefaultRules(), secrets), forgeside.Repositories{widgets},
		func(kind string, err error) { e.Errorf("a %s was refused: %v", kind, err) })
	return &commander{forge: us, client: client.New(e.server.Connect(e.T), "gateway"), cursors: cursors{e.kv}, repo: widgets, grammar: g,
		issues: p, pulls: pr, say: posts(us), now: pr.now, log: p.log}
}

func (e *env) obey(p *commander) {
	e.Helper()
	if err := p.poll(e.ctx); err != nil {
		e.Fatal(err)
	}
}

// marks are the reactions to a comment, in the order of their names.
func marks(t testing.TB, url string, comment int64) (all []string) {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("%s/api/v3/repos/%s/issues/comments/%d/reactions", url, widgets, comment))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var rows []struct{ Content string }
	if err := json.NewDecoder(resp.Body).Decode(&rows); err != nil && resp.StatusCode == http.StatusOK {
		t.Fatal(err)
	}
	for _, r := range rows {
		all = append(all, r.Content)
	}
	slices.Sort(all)
	return all
}

// answers are what we said on an issue or a pull request.
func (e *env) answers(number int) (all []string) {
	e.Helper()
	said, err := e.ann.Comments(e.ctx, widgets, number, time.Time{})
	if err != nil {
		e.Fatal(err)
	}
	for _, c := range said {
		if c.Author.Login == "signalbox" {
			all = append(all, c.Body)
		}
	}
	return all
}

// did are the events of an instance, each with who is behind it, but for its opening.
func (e *env) did(id string) (all []string) {
	e.Helper()
	records, err := e.client.History(e.ctx, id, 0)
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range records[1:] {
		for _, ev := range r.GetCommit().GetEvents() {
			switch {
			case ev.GetPaused() != nil:
				all = append(all, "paused: "+ev.GetPaused().GetReason()+" by "+r.GetCommit().GetActor())
			case ev.GetResumed() != nil:
				all = append(all, "resumed by "+r.GetCommit().GetActor())
			case ev.GetSignalled() != nil:
				all = append(all, ev.GetSignalled().GetName()+": "+ev.GetSignalled().GetData()["body"]+" by "+ev.GetSignalled().GetActor())
			case ev.GetBudgetRaised() != nil:
				all = append(all, fmt.Sprintf("raised by $%v", ev.GetBudgetRaised().GetUsd()))
			}
		}
	}
	return all
}

func TestACommandIsCarriedOutOnceWithThePersonAsItsActor(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	one, n := e.commander(p, "budget=write"), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(one)
	c := e.say(e.ann, n, "It can wait.\n\n/SignalBox Pause until Monday\n/signalbox pause until Monday\n> /signalbox cancel\n")
	other := e.poller(strict)
	two := e.commander(other, "budget=write")
	e.obey(one)
	e.obey(two)
	if err := (repository{issues: other, closed: nil, pulls: two.pulls, obeys: two}).look(e.ctx, change.Item{Number: n}, c.CreatedAt, true); err != nil {
		t.Fatal(err)
	}
	e.poll(p)
	said := "commented: It can wait.\n\n\n\n> /signalbox cancel\n by ann"
	if got := e.did(Name(widgets, n)); !slices.Equal(got, []string{said, "paused: until Monday by ann"}) && !slices.Equal(got, []string{"paused: until Monday by ann", said}) {
		t.Errorf("it did %q", got)
	}
	if got := marks(t, e.forge.URL, c.ID); !slices.Equal(got, []string{"eyes", "rocket"}) || len(e.answers(n)) != 0 {
		t.Errorf("it is marked %q, and answered %q", got, e.answers(n))
	}
	// An edit: only what is new in it counts.
	e.second.Add(60)
	if _, err := e.ann.EditComment(e.ctx, widgets, c.ID, "/signalbox pause until Monday\n/signalbox budget +5"); err != nil {
		t.Fatal(err)
	}
	e.obey(one)
	e.obey(two)
	if got := e.did(Name(widgets, n)); len(got) != 3 || got[2] != "raised by $5" {
		t.Errorf("after the edit it did %q, and answered %q", got, e.answers(n))
	}
}

func TestWhatIsNotCarriedOutIsAnsweredOnceWithTheReason(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	o, n := e.commander(p, "budget=write", "status=read"), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(o)
	id := Name(widgets, n)
	done, ended := e.report(e.ann, "ended"), []string{"confused", "eyes"}
	e.second.Add(1)
	e.poll(p)
	if _, err := e.client.Cancel(e.ctx, Name(widgets, done), "not wanted"); err != nil {
		t.Fatal(err)
	}
	foreign := e.report(e.bob, "of a stranger")
	for name, c := range map[string]struct {
		on      int
		body    string
		marks   []string
		answers string // "": there is none
	}{
		"a misspelt verb":            {n, "/signalbox aprove", ended, "`/signalbox aprove`: is no command; did you mean approve?; `/signalbox help` lists the commands"},
		"one of another program":     {n, "/signalbox lgtm", ended, "`/signalbox lgtm`: is no command"},
		"a merge without one":        {n, "/signalbox merge", ended, "is not of the lifecycle issue"},
		"a base without a branch":    {n, "/signalbox rebase", ended, "is not of the lifecycle issue"},
		"words where none belong":    {n, "/signalbox status please", ended, "stands alone on its line"},
		"a budget beyond all bounds": {n, "/signalbox budget +1e99", ended, "is no raise; want an amount such as +5usd"},
		"a budget that is too much":  {n, "/signalbox budget +2000000usd", ended, "is refused: want an amount above zero"},
		"a budget that is no sum":    {n, "/signalbox budget five", ended, "is no raise; want an amount such as +5usd"},
		"a budget below zero":        {n, "/signalbox budget -5", ended, "is no raise; want an amount such as +5usd"},
		"what nobody has asked":      {n, "/signalbox answer Q1: 5", ended, "finds nothing that waits for an answer: it is in received, where pm works"},
		"what nobody waits for":      {n, "/signalbox approve", ended, "finds nothing that waits for it: it is in received"},
		"a hold without a merge":     {n, "/signalbox hold", ended, "is not of the lifecycle issue"},
		"what is not paused":         {n, "/signalbox resume", ended, "is refused: not paused; permitted: pause"},
		"on what has ended":          {done, "/signalbox retry", ended, "is refused: cancelled in received: nothing moves it any more; permitted: reopen"},
		"on what is not taken up":    {foreign, "/signalbox retry", ended, "finds no work: this issue is not taken up; the label signalbox, set by a person with the permission write, has it taken up"},
		"markup in the verb":         {n, "/signalbox @ann<!--x-->`fixes#1", ended, "is no command"},
		"in code":                    {n, "```\n/signalbox cancel\n```", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e.second.Add(1)
			before := len(e.answers(c.on))
			made := e.say(e.ann, c.on, c.body)
			e.obey(o)
			e.obey(o)
			got := e.answers(c.on)[before:]
			switch {
			case c.answers == "" && len(got) > 0, c.answers != "" && len(got) != 1:
				t.Errorf("it was answered %q", got)
			case c.answers != "" && !strings.Contains(got[0], c.answers):
				t.Errorf("it was answered %s", got[0])
			}
			if m := marks(t, e.forge.URL, made.ID); !slices.Equal(m, c.marks) {
				t.Errorf("it is marked %q", m)
			}
		})
	}
	e.poll(p)
	if got := e.did(id); len(got) != 1 || !strings.Contains(got[0], "```") { // what was said in code is said
		t.Errorf("it did %q", got)
	}
}

// grants is a forge that says who may what.
type grants struct {
	forge.Reader
	permission string
}

func (g *grants) Permission(context.Context, string, string) (string, error) {
	return g.permission, nil
}

func TestACommandTakesThePermissionOfItsMoment(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict, func(p *poller) { p.intake.PerDay = 2 })
	o, n := e.commander(p), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(o)
	e.say(e.ann, n, "/signalbox pause")
	e.obey(o)
	now := &grants{p.reader, "read"}
	p.permissions.forge = now
	for i, body := range []string{"/signalbox resume", "/signalbox cancel", "/signalbox cancel now"} {
		e.second.Add(1)
		made := e.say(e.ann, n, body)
		e.obey(o)
		want := []string{"confused", "eyes"}
		if i == 2 {
			want = nil // too many a day
		}
		if got := marks(t, e.forge.URL, made.ID); !slices.Equal(got, want) {
			t.Errorf("%s is marked %q", body, got)
		}
	}
	got := e.answers(n)
	if len(got) != 2 || !strings.Contains(got[0], "takes the permission write on this repository, and you have read") {
		t.Errorf("it answered %q", got)
	}
	e.second.Add(1)
	e.say(e.robot, n, "/signalbox resume")
	e.say(e.forge.Client("signalbox"), n, "/signalbox resume")
	gone := e.say(e.ann, n, "/signalbox resume")
	now.permission = "admin"
	if err := e.ann.WithdrawComment(e.ctx, widgets, gone.ID); err != nil {
		t.Fatal(err)
	}
	e.obey(o)
	if in, err := e.client.Get(e.ctx, Name(widgets, n)); err != nil || !in.GetPaused() || in.GetClosed() != "" {
		t.Errorf("it is %v, %v", in, err)
	}
	e.poll(p)
	e.want(n) // and nothing of it is an answer or a remark
}

func TestADeliveryAndAPollOfACommandCarryItOutOnce(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	o := e.commander(p)
	e.poll(p)
	e.obey(o)
	all := e.watched(p)
	all.obeys = o
	h := e.hook(all)
	n := e.report(e.ann, "The sum is wrong")
	c := e.say(e.ann, n, "/signalbox pause\n/signalbox status")
	told := func(id, action, body string) {
		event := commentEvent(action, n, c.CreatedAt)
		event["comment"] = map[string]any{"created_at": c.CreatedAt, "body": body}
		h.deliver("issue_comment", id, event)
		h.settle()
	}
	told("first", "created", c.Body) // and nothing has told of the issue yet
	e.obey(o)
	told("again", "created", c.Body)
	e.second.Add(1)
	edited, err := e.ann.EditComment(e.ctx, widgets, c.ID, c.Body+"\n/signalbox resume")
	if err != nil {
		t.Fatal(err)
	}
	told("edited", "edited", edited.Body)
	e.obey(e.commander(e.poller(strict)))
	if got := e.did(Name(widgets, n)); !slices.Equal(got, []string{"paused: asked for by ann in a comment by ann", "resumed by ann"}) {
		t.Errorf("it did %q", got)
	}
	if got := e.answers(n); len(got) != 1 {
		t.Errorf("it answered %q", got)
	}
}

func TestOldCommandsAreNotCarriedOut(t *testing.T) {
	e := newEnv(t)
	n := e.report(e.ann, "The sum is wrong")
	old := e.say(e.ann, n, "/signalbox cancel")
	e.second.Add(600)
	p := e.poller(strict, func(p *poller) { p.all = true })
	o := e.commander(p)
	e.poll(p)
	e.obey(o)
	e.second.Add(1)
	if _, err := e.ann.EditComment(e.ctx, widgets, old.ID, "/signalbox cancel now"); err != nil {
		t.Fatal(err)
	}
	e.obey(o)
	if in, err := e.client.Get(e.ctx, Name(widgets, n)); err != nil || in.GetClosed() != "" || len(marks(t, e.forge.URL, old.ID)) > 0 {
		t.Errorf("it is %v, %v", in, err)
	}
}

func TestAPersonIsToldWhereItIsAndWhatWouldMoveIt(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	o, n := e.commander(p), e.report(e.ann, "The sum is wrong")
	e.obey(o)
	e.poll(p)
	if _, err := e.client.Override(e.ctx, Name(widgets, n), "waiting_for_human_input", "@ann closes #7 </details>"); err != nil {
		t.Fatal(err)
	}
	e.say(e.ann, n, "/signalbox status\n/signalbox explain\n/signalbox help")
	e.obey(o)
	got := e.answers(n)
	if len(got) != 1 {
		t.Fatalf("it answered %q", got)
	}
	for _, want := range []string{"`acme/widgets/1` is in `waiting_for_human_input` of `issue`: Waiting for a decision from a person.",
		"It has waited for people for ", "It goes on with:", "`commented` leads to human_input_received: a permitted person answered", "`/signalbox budget +5usd`"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("it does not say %q:\n%s", want, got[0])
		}
	}
	e.second.Add(1)
	c := e.say(e.ann, n, "/signalbox approve with my thanks")
	e.obey(o)
	if in, err := e.client.Get(e.ctx, Name(widgets, n)); err != nil || in.GetState() != "human_input_received" {
		t.Errorf("it is in %s, %v: %q", in.GetState(), err, e.answers(n))
	}
	if got := e.did(Name(widgets, n)); !slices.Equal(got, []string{"commented: /approve with my thanks by ann"}) {
		t.Errorf("it did %q", got)
	}
	if got := marks(t, e.forge.URL, c.ID); !slices.Equal(got, []string{"eyes", "rocket"}) {
		t.Errorf("it is marked %q", got)
	}
}

func TestAnswersInOneCommentAreGivenTogether(t *testing.T) {
	in := &pb.Instance{Questions: []*pb.Question{{Number: 1}, {Number: 2}, {Number: 3, Answered: true}, {Number: 4, To: "analyst"}}}
	all, _ := command.Parse("signalbox", "/signalbox pause\n/signalbox answer Q1: five\n/signalbox answer Q3: x\n/signalbox answer q2 six\nor seven\n"+
		"/signalbox answer as you like\n/signalbox status")
	got := order{of: target{in: in}}.together(all)
	want := []command.Command{{Verb: "pause"}, {Verb: "answer", Words: "Q1: five\n\nQ2: six\nor seven\n\nas you like"},
		{Verb: "answer", Words: "Q3: x"}, {Verb: "status"}}
	if !slices.Equal(got, want) {
		t.Errorf("they are %q", got)
	}
}

func TestAPullRequestIsHeldByACommandOnIt(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	o := e.commander(p)
	number, _ := e.propose("first")
	e.poll(p)
	e.obey(o)
	labels := func(body string) []string {
		e.second.Add(1)
		e.say(e.ann, number, body)
		e.obey(o)
		pr, err := e.ann.PullRequest(e.ctx, widgets, number)
		if err != nil {
			t.Fatal(err)
		}
		return pr.Labels
	}
	if got := labels("/signalbox hold"); !slices.Equal(got, []string{"hold"}) {
		t.Errorf("it is labelled %q: %q", got, e.answers(number))
	}
	if got := labels("/signalbox unhold"); len(got) != 0 {
		t.Errorf("it is labelled %q: %q", got, e.answers(number))
	}
	if labels("/signalbox status"); len(e.answers(number)) != 1 || !strings.Contains(e.answers(number)[0], "`story/first` is in `pushed` of `story`") {
		t.Errorf("it answered %q", e.answers(number))
	}
}

func TestAWordIsPostedByThePMOnce(t *testing.T) {
	e := newEnv(t)
	n := e.report(e.ann, "The sum is wrong")
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	w := forgeside.CommentRequest{Repo: widgets, Number: n, Key: "command-1-x-done", Body: "Done."}
	if err := forgeside.RequestComment(e.ctx, e.server.Connect(t), w); err == nil {
		t.Error("nobody posted it")
	}
	nc := e.server.Connect(t)
	go func() {
		_ = forgeside.ServeComments(ctx, nc, posts(e.forge.Client("signalbox")))
	}()
	for said := 0; said < 2; {
		if err := forgeside.RequestComment(e.ctx, e.server.Connect(t), w); err == nil {
			said++
		} else if e.ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if err := forgeside.RequestComment(e.ctx, e.server.Connect(t), forgeside.CommentRequest{Repo: widgets}); err == nil {
		t.Error("a word without words was posted")
	}
	if got := e.answers(n); len(got) != 1 || !strings.HasPrefix(got[0], "Done.") {
		t.Errorf("it said %q", got)
	}
}
