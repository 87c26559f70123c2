package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// commit commits a file of a repository on a branch, and returns the commit. An empty text
// removes it.
func (e *env) commit(repo, branch, name, text string) string {
	e.Helper()
	at, err := url.Parse(e.forge.URL)
	if err != nil {
		e.Fatal(err)
	}
	at.Path, at.User = "/"+repo+".git", url.UserPassword("ann", forgetest.Token("ann"))
	dir := filepath.Join(e.TempDir(), "clone")
	gittest.Run(e.T, git.New(filepath.Dir(dir)), "clone", "-q", at.String(), dir)
	g := git.New(dir)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		e.Fatal(err)
	}
	if text == "" {
		gittest.Run(e.T, g, "rm", "-q", name)
	} else {
		forgetest.WriteFile(e.T, dir, name, text)
	}
	gittest.Run(e.T, g, "add", "-A")
	gittest.Run(e.T, g, "-c", "user.name=ann", "-c", "user.email=ann@example.com", "commit", "-q", "-m", "Configure")
	gittest.Run(e.T, g, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
	return strings.TrimSpace(gittest.Run(e.T, g, "rev-parse", "HEAD"))
}

// configured is a poller that heeds the configuration of the repository, and reads it
// for each issue.
func (e *env) configured(log *bytes.Buffer) *poller {
	return e.poller(strict, func(p *poller) {
		p.log = slog.New(slog.NewTextHandler(log, nil))
		late := time.Now()
		p.configs = &configurations{forge: e.forge.Client("signalbox"), client: p.client, kv: e.kv, repo: p.repo, workflow: "issue",
			lifecycles: []string{"story"}, log: p.log, now: func() time.Time { late = late.Add(configurationFor); return late }}
	})
}

// configuredBy is the same after a restart.
func (e *env) configuredBy(p *poller) *poller {
	c := p.configs
	return e.poller(strict, func(p *poller) {
		p.configs = &configurations{forge: c.forge, client: p.client, kv: c.kv, repo: c.repo, workflow: c.workflow, lifecycles: c.lifecycles,
			log: c.log, now: c.now, checks: c.checks}
	})
}

func (e *env) opened(p *poller, title string, labels ...string) *pb.Instance {
	e.Helper()
	e.second.Add(1)
	number := e.report(e.ann, title, labels...)
	e.poll(p)
	in, err := e.client.Get(e.ctx, Name(widgets, number))
	if err != nil {
		return nil
	}
	return in
}

const config = ".signalbox/config.yaml"

func TestARepositoryConfiguresItsNewIssues(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	plain := e.opened(p, "Before there is a file")
	if plain.GetIssue().GetConfig() != nil || plain.GetWorkflow() != "issue" {
		t.Fatalf("without a file it is opened as %v", plain)
	}
	commit := e.commit(widgets, forgetest.Trunk, config,
		"policy: {max_iterations: 3, confidence_threshold: 0.1}\nbudget: {usd: 2, day: [{role: developer, time: 8h}]}\nprotect: [infra/**]\nbrains: [exec:claude]\n")
	in := e.opened(p, "After it")
	if c := in.GetIssue().GetConfig(); c.GetFile() != widgets+":"+config || c.GetCommit() != commit || len(c.GetHash()) != 64 ||
		!slices.Equal(c.GetProtect(), []string{"infra/**"}) || !slices.Equal(c.GetBrains(), []string{"exec:claude"}) {
		t.Errorf("the log has the configuration %v", c)
	} else if days := c.GetDays(); len(days) != 1 || days[0].GetRole() != "developer" || days[0].GetWallMs() != 8*3600*1000 {
		t.Errorf("the log has the budgets of a day %v", days)
	}
	def, err := e.client.Definition(e.ctx, in.GetDefinition())
	if err != nil || in.GetDefinition() == plain.GetDefinition() {
		t.Fatalf("it goes by the definition %s, %v", in.GetDefinition(), err)
	}
	for _, want := range []string{"max_iterations: 3", "budget_usd: 2", "confidence_threshold: 0.85"} { // the last is the operator's
		if !strings.Contains(string(def.GetSource()), want) {
			t.Errorf("the definition has no %s", want)
		}
	}

	t.Run("and a file of a branch is none", func(t *testing.T) {
		e.commit(widgets, "mine", config, "lifecycle: story\n")
		if in := e.opened(p, "With a branch"); in.GetWorkflow() != "issue" || in.GetIssue().GetConfig().GetCommit() != commit {
			t.Errorf("it is opened as %v", in)
		}
	})
	t.Run("a wrong one changes nothing, and is told of once", func(t *testing.T) {
		wrong := e.commit(widgets, forgetest.Trunk, config, "polcy: {max_iterations: 9}\n")
		log.Reset()
		first, second := e.opened(p, "The first after"), e.opened(p, "The second after")
		c := first.GetIssue().GetConfig()
		if c.GetCommit() != commit || first.GetDefinition() != in.GetDefinition() {
			t.Errorf("in force is %v", c)
		}
		for _, want := range []string{wrong[:12] + " is wrong", config + `:1: unknown key "polcy"; did you mean "policy"?`, "stays in force"} {
			if !strings.Contains(c.GetProblem(), want) {
				t.Errorf("people are told %q, want %q", c.GetProblem(), want)
			}
		}
		if again := second.GetIssue().GetConfig(); again.GetProblem() != "" || again.GetCommit() != commit {
			t.Errorf("the second has %v", again)
		}
		if n := strings.Count(log.String(), "the configuration of the repository is wrong"); n != 1 {
			t.Errorf("it is logged %d times: %s", n, log.String())
		}
		if late := e.opened(e.configured(&log), "After a restart"); late.GetIssue().GetConfig().GetCommit() != commit ||
			late.GetIssue().GetConfig().GetProblem() != "" {
			t.Errorf("after a restart it is %v", late.GetIssue().GetConfig())
		}
	})
	t.Run("a lifecycle that the operator does not permit is wrong", func(t *testing.T) {
		e.commit(widgets, forgetest.Trunk, config, "lifecycle: task\n")
		if in := e.opened(p, "For a task"); in.GetWorkflow() != "issue" || !strings.Contains(in.GetIssue().GetConfig().GetProblem(), "--repo-workflow") {
			t.Errorf("it is opened as %v", in)
		}
	})
	t.Run("a label is asked for", func(t *testing.T) {
		e.commit(widgets, forgetest.Trunk, config, "label: ai\n")
		if in := e.opened(p, "Without"); in != nil {
			t.Errorf("it is opened as %v", in)
		}
		if in := e.opened(p, "With it", "AI"); in == nil {
			t.Error("it is not opened")
		}
	})
	t.Run("what was taken up goes on as it began", func(t *testing.T) {
		now, err := e.client.Get(e.ctx, in.GetInstance())
		if err != nil || now.GetDefinition() != in.GetDefinition() || now.GetIssue().GetConfig().GetCommit() != commit {
			t.Errorf("it is %v, %v", now.GetIssue(), err)
		}
	})
}

func TestTheOwnersConfigurationStandsInForAMissingOne(t *testing.T) {
	e := newEnv(t)
	from := gittest.Repo(t)
	gittest.Run(t, from, "checkout", "-q", "-b", forgetest.Trunk)
	if err := os.MkdirAll(filepath.Join(from.Dir(), ".signalbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	forgetest.WriteFile(t, from.Dir(), ".signalbox/config.yml", "protect: [shared/**]\n")
	gittest.Run(t, from, "add", "-A")
	gittest.Run(t, from, "commit", "-q", "-m", "first")
	if err := e.forge.CreateRepo(e.ctx, "acme/.github", from.Dir()); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := e.configured(&log)
	if c := e.opened(p, "By the owner's").GetIssue().GetConfig(); c.GetFile() != "acme/.github:.signalbox/config.yml" {
		t.Errorf("in force is %v", c)
	}
	e.commit(widgets, forgetest.Trunk, config, "protect: [own/**]\n")
	if c := e.opened(p, "By its own").GetIssue().GetConfig(); !slices.Equal(c.GetProtect(), []string{"own/**"}) {
		t.Errorf("in force is %v", c)
	}
}

// A repository whose first file is wrong wants something that nobody knows.
func TestNothingIsTakenUpWhileTheOnlyFileIsWrong(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	e.commit(widgets, forgetest.Trunk, config, "lable: ai\n")
	if in := e.opened(p, "While it is wrong"); in != nil {
		t.Fatalf("it is opened as %v", in)
	}
	if !strings.Contains(log.String(), `unknown key \"lable\"; did you mean \"label\"?`) {
		t.Errorf("the log is %s", log.String())
	}
	e.commit(widgets, forgetest.Trunk, config, "label: ai\n")
	e.second.Add(1)
	made, err := e.ann.CreateIssue(e.ctx, widgets, forge.NewIssue{Title: "Once it is right", Labels: []string{"ai"}})
	if err != nil {
		t.Fatal(err)
	}
	e.poll(p)
	if _, err := e.client.Get(e.ctx, Name(widgets, made.Number)); err != nil {
		t.Error(err)
	}
}

func TestPeopleAreToldOfAWrongFileOnceWhateverTheLifecycle(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	right := e.commit(widgets, forgetest.Trunk, config, "lifecycle: story\n")
	if in := e.opened(p, "While it is right"); in.GetWorkflow() != "story" {
		t.Fatalf("it is opened as %v", in)
	}
	absent := true
	p.wrong = &tellings{p.configs, func(ctx context.Context, r forgeside.CommentRequest) error {
		if absent {
			return forgeside.ErrNotPosted
		}
		return posts(e.forge.Client("signalbox"))(ctx, r)
	}}
	wrong := e.commit(widgets, forgetest.Trunk, config, "lifecycle: story\nbudget: {usd: none}\n\"@bob fixes #7\": x\n")
	first := e.opened(p, "The first after")
	number := int(first.GetIssue().GetNumber())
	if got := e.answers(number); first.GetWorkflow() != "story" || len(got) != 0 {
		t.Errorf("without a PM it is %s, and says %q", first.GetWorkflow(), got)
	}
	second := e.opened(p, "The second after")
	absent = false
	other := e.configuredBy(p) // a restart
	again := &tellings{other.configs, p.wrong.say}
	for range 2 {
		if err := again.poll(e.ctx); err != nil {
			t.Fatal(err)
		}
	}
	got := e.answers(number)
	if len(got) != 1 {
		t.Fatalf("it says %q", got)
	}
	for _, want := range []string{wrong[:12] + " is wrong", right[:12] + " stays in force", config + ":2: want dollars", "> " + config + ":3: unknown key",
		"The configuration of this repository is not in force as it is now."} {
		if !strings.Contains(got[0], want) {
			t.Errorf("it says %q, want %q", got[0], want)
		}
	}
	if len(liveIn(got[0])) > 0 {
		t.Errorf("it is not neutral: %q", got[0])
	}
	if got := e.answers(int(second.GetIssue().GetNumber())); len(got) != 0 {
		t.Errorf("the second says %q", got)
	}
}

func TestTheGatewayTellsWhichConfigurationIsInForce(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	ctx, stop := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	all, faults := watching(repository{issues: p}), make(chan error, 1)
	all.fault = func() error {
		select {
		case err := <-faults:
			return err
		default:
			return nil
		}
	}
	go func() {
		ended <- reports(ctx, &service.Host{NATS: e.server.Connect(t)}, &deliveries{watched: all})
	}()
	nc := e.server.Connect(t)
	ask := func(repo string) (*instance.Configuration, error) {
		for {
			c, err := forgeside.RequestConfiguration(e.ctx, nc, repo)
			if err == nil || !strings.Contains(err.Error(), "no gateway answers") {
				return c, err
			}
		}
	}
	if c, err := ask("acme/gadgets"); !errors.Is(err, forgeside.ErrUnread) || !strings.Contains(err.Error(), `does not watch "acme/gadgets"`) {
		t.Errorf("of another repository it says %+v, %v", c, err)
	}
	for _, fault := range []error{nil, forge.ErrUnavailable} {
		faults <- fault
		want := ""
		if fault != nil {
			want = fault.Error()
		}
		if got, err := forgeside.RequestFault(e.ctx, nc); err != nil || got != want {
			t.Errorf("of the forge it says %q, %v, want %q", got, err, want)
		}
	}
	e.commit(widgets, forgetest.Trunk, config, "lable: ai\nbudget: {usd: none}\n")
	if c, err := ask(widgets); !errors.Is(err, forgeside.ErrMisconfigured) ||
		!strings.Contains(err.Error(), config+":1: unknown key") || !strings.Contains(err.Error(), "\n"+config+":2: want dollars") {
		t.Errorf("of a first wrong one it says %+v, %v", c, err)
	}
	e.commit(widgets, forgetest.Trunk, config, "")
	if c, err := ask(widgets); c != nil || err != nil {
		t.Errorf("of none it says %+v, %v", c, err)
	}
	right := e.commit(widgets, forgetest.Trunk, config, "policy: {auto_merge: false}\nbudget: {day: [{usd: 5}]}\nlimits: [{at_once: 2}]\n")
	wrong := ""
	for range 3 {
		c, err := ask(widgets)
		if err != nil || c == nil || c.Commit != right || c.Policy["auto_merge"] != "false" || len(c.Days) != 1 || len(c.Limits) != 1 || !strings.Contains(c.Problem, wrong) {
			t.Fatalf("it says %+v, %v", c, err)
		}
		wrong = e.commit(widgets, forgetest.Trunk, config, "labels: [ai]\n# "+wrong+"\n")[:12] + " is wrong"
	}
	if in := e.opened(p, "And an issue"); !strings.Contains(in.GetIssue().GetConfig().GetProblem(), "is wrong") {
		t.Error("whoever asked was told in place of the people on the issue")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestACommandOnAnIssueThatIsNotTakenUpIsToldOfTheWrongFile(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	o := e.commander(p)
	e.poll(p)
	e.obey(o)
	commit := e.commit(widgets, forgetest.Trunk, config, "# first\n\"@bob <b>fixes #1 [x](https://evil.example)\": ai\nbudget: {usd: none}\n")
	n := e.report(e.ann, "While it is wrong")
	e.poll(p)
	e.say(e.ann, n, "/signalbox status")
	e.obey(o)
	got := e.answers(n)
	if len(got) != 1 {
		t.Fatalf("it says %q", got)
	}
	for _, want := range []string{"finds no work", "`" + widgets + ":" + config + " at " + commit[:12] + "` is wrong", config + ":2: unknown key", config + ":3: want dollars"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("it says %q, want %q", got[0], want)
		}
	}
	if strings.Contains(got[0], "the label") {
		t.Errorf("a label does not help, and it says %q", got[0])
	}
	if len(liveIn(got[0])) > 0 {
		t.Errorf("it is not neutral: %q", got[0])
	}
}

func TestADryRunHeedsTheConfiguration(t *testing.T) {
	e := newEnv(t)
	if err := e.forge.CreateRepo(e.ctx, "acme/tools", ""); err != nil {
		t.Fatal(err)
	}
	if err := e.forge.CreateRepo(e.ctx, "acme/attic", ""); err != nil {
		t.Fatal(err)
	}
	if err := e.forge.ArchiveRepo("acme/attic", true); err != nil {
		t.Fatal(err)
	}
	e.report(e.ann, "Without it")
	e.report(e.ann, "With it", "ai")
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	says := func() string {
		t.Helper()
		var said bytes.Buffer
		s := Settings{Forge: github.Flags{URL: e.forge.URL + "/api/v3/", Token: forgetest.Token("signalbox")}, Repo: []string{"acme/*"},
			Workflow: "issue", Lifecycles: []string{"story"}, All: true, Intake: DefaultIntake()}
		if err := s.DryRun(e.ctx, &said, defs...); err != nil {
			t.Fatal(err)
		}
		return said.String()
	}
	commit := e.commit(widgets, forgetest.Trunk, config, "lifecycle: story\nlabel: ai\n")
	said := says()
	for _, want := range []string{
		"acme/widgets: configured by acme/widgets:" + config + " at " + commit[:12] + ", SHA-256 ",
		`#1 "Without it": left alone: it has no label ai`, `#2 "With it": would be taken up`, "by the lifecycle story",
		"acme/attic: it is archived, and rests", "acme/tools: 0 of 0 open issues would be taken up, by the lifecycle issue",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	e.commit(widgets, forgetest.Trunk, config, "lifecycle: nosuch\n")
	if said := says(); !strings.Contains(said, "its configuration is wrong") || !strings.Contains(said, "left alone: the configuration of the repository is wrong") {
		t.Errorf("of a wrong one it says\n%s", said)
	} else if strings.Contains(said, "acme/widgets: 0 of") {
		t.Errorf("of a wrong one it says how much would be taken up\n%s", said)
	}
}

// An App without the permission contents polls nevertheless.
func TestAConfigurationThatMayNotBeReadIsTheOperators(t *testing.T) {
	e := newEnv(t)
	denied := func() {
		e.forge.FailRequests("GET", "/commits", localforge.Fault{Status: 403})
	}
	denied()
	var log bytes.Buffer
	p := e.configured(&log)
	for _, title := range []string{"The first", "The second"} {
		if in := e.opened(p, title); in.GetWorkflow() != "issue" || in.GetIssue().GetConfig() != nil {
			t.Errorf("%s is opened as %v", title, in)
		}
	}
	if s := log.String(); strings.Count(s, "cannot be read: grant the permission contents") != 1 {
		t.Errorf("the log is %s", s)
	}
	e.forge.Recover()
	commit := e.commit(widgets, forgetest.Trunk, config, "lifecycle: story\n")
	if in := e.opened(p, "Granted"); in.GetWorkflow() != "story" {
		t.Errorf("then it is opened as %v", in)
	}
	denied()
	if in := e.opened(p, "And taken away"); in.GetIssue().GetConfig().GetCommit() != commit {
		t.Errorf("after that it is opened as %v", in)
	}
	if s := log.String(); strings.Count(s, "cannot be read: grant the permission contents") != 2 || !strings.Contains(s, "stays in force") {
		t.Errorf("the log is %s", s)
	}
}

// shown are the checks of a commit that show whether the configuration is right.
func (e *env) shown(commit string) (all []string) {
	e.Helper()
	runs, err := e.robot.CheckRuns(e.ctx, widgets, commit)
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range runs {
		failure, err := e.robot.Failure(e.ctx, widgets, r.ID)
		if err != nil {
			e.Fatal(err)
		}
		said := r.Name + " " + r.Conclusion
		for _, a := range failure.Annotations {
			said += fmt.Sprintf("; %s:%d %s: %s", a.Path, a.Line, a.Level, a.Message)
		}
		all = append(all, said)
	}
	return all
}

func TestACheckShowsThatTheConfigurationIsWrong(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	p.configs.checks = e.robot
	h := e.hook(e.watched(p))
	written := 0
	e.forge.Fail(func(r *http.Request) *localforge.Fault {
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/check-runs") {
			written++
		}
		return nil
	})
	first, err := e.robot.Newest(e.ctx, widgets)
	if err != nil {
		t.Fatal(err)
	}
	e.opened(p, "Before there is a file")
	wrong := e.commit(widgets, forgetest.Trunk, config, "label: ai\npolcy: {max_iterations: 9}\nbudget: {usd: none}\n")
	h.deliver("push", "wrong", object{"ref": "refs/heads/" + forgetest.Trunk, "before": first, "after": wrong,
		"repository": object{"full_name": widgets, "default_branch": forgetest.Trunk}, "commits": []any{object{"added": []any{config}}}})
	h.settle()
	want := []string{"Signalbox configuration failure; " + config + `:2 failure: unknown key "polcy"; did you mean "policy"?; ` + config +
		`:3 failure: want dollars above zero`}
	if got := e.shown(wrong); len(got) != 1 || !strings.HasPrefix(got[0], want[0]) {
		t.Errorf("the push is shown as %q, want %q", got, want)
	}
	e.opened(p, "While it is wrong")
	e.opened(e.configuredBy(p), "After a restart")
	if written != 1 || len(e.shown(first)) != 0 {
		t.Errorf("%d checks are written", written)
	}
	still := e.commit(widgets, forgetest.Trunk, "README.md", "More widgets.\n")
	e.opened(p, "While it is still wrong")
	right := e.commit(widgets, forgetest.Trunk, config, "budget: {usd: 2}\n")
	in := e.opened(p, "Once it is right")
	e.opened(p, "And after it")
	if got := e.shown(still); len(got) != 1 || !strings.HasPrefix(got[0], "Signalbox configuration failure") {
		t.Errorf("the next commit is shown as %q", got)
	}
	if got := e.shown(right); !slices.Equal(got, []string{"Signalbox configuration success"}) || in.GetIssue().GetConfig().GetCommit() != right {
		t.Errorf("the right one is shown as %q", got)
	}
	if written != 3 {
		t.Errorf("%d were written", written)
	}
}

func TestATokenThatMayWriteNoChecksIsSaidOnce(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	p.configs.checks = e.robot
	e.forge.FailRequests(http.MethodPost, "/check-runs", localforge.Fault{Status: http.StatusForbidden})
	for n := range 2 {
		commit := e.commit(widgets, forgetest.Trunk, config, fmt.Sprintf("polcy: {max_iterations: %d}\n", n))
		e.opened(p, "While it is wrong")
		if got := e.shown(commit); len(got) != 0 {
			t.Errorf("shown is %q", got)
		}
	}
	if n := strings.Count(log.String(), "is not shown as a check: that takes an App"); n != 1 {
		t.Errorf("it is said %d times: %s", n, log.String())
	}
}

// liveIn returns what is live in a comment of ours, but for its marker.
func liveIn(comment string) []sanitize.Live {
	body, _, _ := strings.Cut(comment, "\n<!-- signalbox ")
	all, _ := sanitize.LiveMarkdown(body)
	return all
}
