package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// watching is a set that watches one repository, and follows nothing.
func watching(of repository) *watched {
	return &watched{asked: make(chan struct{}, 1), on: map[string]*running{widgets: {repository: of, place: place{Name: widgets}}}}
}

func TestWhatIsWatchedFollowsTheForge(t *testing.T) {
	list := forgeside.Repositories{"acme/web-*", "acme/tools", "!acme/web-secret"}
	a, b := forge.Listed{ID: 1, Name: "acme/web-a"}, forge.Listed{ID: 2, Name: "acme/web-b"}
	lists := func(all ...forge.Listed) forgeside.Resolved {
		return forgeside.Resolved{Listed: all, Owners: []string{"acme"}, Missing: map[string]error{"acme/tools": errors.New("no such repository")}}
	}
	called := func(one forge.Listed, to string) forge.Listed { one.Name = to; return one }
	leads := func(got forgeside.Resolved, one forge.Listed) forgeside.Resolved {
		got.Named = map[string]forge.Listed{"acme/web-a": one}
		return got
	}
	archive := func(one forge.Listed) forge.Listed { one.Archived = true; return one }
	pa, pb := place{ID: 1, Name: "acme/web-a"}, place{ID: 2, Name: "acme/web-b"}
	gone := "acme/web-a is not there to work on: it was deleted or transferred, or the App or the token no longer has it; work goes on when it is back"
	for _, c := range []struct {
		what     string
		kept     []place
		got      forgeside.Resolved
		want     []place
		warnings string // part of them
	}{
		{"at the start names are watched, although nothing is known", nil, forgeside.Resolved{}, []place{{Name: "acme/tools"}}, ""},
		{"what is listed and named is added", nil, lists(a, b, forge.Listed{ID: 3, Name: "acme/api"}), []place{pa, pb}, ""},
		{"what is left out is not", nil, lists(a, forge.Listed{ID: 3, Name: "acme/web-secret"}), []place{pa}, ""},
		{"what is archived is added, and rests", nil, lists(archive(a)), []place{{ID: 1, Name: "acme/web-a", Away: archived("acme/web-a")}}, ""},
		{"what is not listed any more rests", []place{pa, pb}, lists(b), []place{{ID: 1, Name: "acme/web-a", Away: gone}, pb}, ""},
		{"and keeps its first reason", []place{{ID: 1, Name: "acme/web-a", Away: "why"}}, lists(archive(a)), []place{{ID: 1, Name: "acme/web-a", Away: "why"}}, ""},
		{"what is back is watched", []place{{ID: 1, Name: "acme/web-a", Away: gone}}, lists(a), []place{pa}, ""},
		{"what is renamed keeps its name here", []place{pa}, leads(lists(called(a, "acme/web-z")), called(a, "acme/web-z")), []place{{ID: 1, Name: "acme/web-a", Now: "acme/web-z"}}, ""},
		{"also beyond the pattern", []place{pa}, leads(lists(called(a, "acme/api")), called(a, "acme/api")), []place{{ID: 1, Name: "acme/web-a", Now: "acme/api"}}, ""},
		{"unless that name is left out", []place{{ID: 1, Name: "acme/web-a", Now: "acme/web-secret"}}, lists(called(a, "acme/web-secret")),
			[]place{{ID: 1, Name: "acme/web-a", Now: "acme/web-secret"}}, ""}, // it is not of the list, so nothing polls it
		{"renamed back", []place{{ID: 1, Name: "acme/web-a", Now: "acme/web-z"}}, lists(a), []place{pa}, ""},
		{"a new repository does not get the work of a renamed one", []place{pa}, lists(called(a, "acme/web-z"), called(b, "acme/web-a")),
			[]place{{ID: 1, Name: "acme/web-a", Away: renamed("acme/web-a", "acme/web-z", "acme/web-a")}},
			"a new repository acme/web-a is not watched"},
		{"also after that was renamed", []place{pa}, leads(lists(called(a, "acme/web-z"), b), b),
			[]place{{ID: 1, Name: "acme/web-a", Away: renamed("acme/web-a", "acme/web-z", "acme/web-b")}, pb}, ""},
		{"one whose old name leads nowhere rests", []place{{ID: 9, Name: "acme/tools"}}, lists(forge.Listed{ID: 9, Name: "acme/gear"}),
			[]place{{ID: 9, Name: "acme/tools", Away: renamed("acme/tools", "acme/gear", "")}}, ""},
		{"one that was recreated goes on", []place{pa}, lists(called(b, "acme/web-a")), []place{{ID: 2, Name: "acme/web-a"}}, "recreated"},
		{"one that was transferred rests", []place{pa}, lists(called(a, "other/web-a")),
			[]place{{Name: "acme/web-a", Away: removed("acme/web-a", "it was transferred to other/web-a")}}, ""},
		{"a name of which the forge says nothing stays", []place{{ID: 9, Name: "acme/tools"}},
			forgeside.Resolved{Unknown: map[string]error{"acme/tools": errors.New("denied")}}, []place{{ID: 9, Name: "acme/tools"}}, ""},
		{"one that was not asked for stays", []place{{ID: 9, Name: "acme/tools"}}, forgeside.Resolved{}, []place{{ID: 9, Name: "acme/tools"}}, ""},
		{"a name that is gone rests", []place{{ID: 9, Name: "acme/tools"}}, lists(),
			[]place{{ID: 9, Name: "acme/tools", Away: removed("acme/tools", "no such repository")}}, ""},
		{"a name that was renamed is watched by the name", nil,
			forgeside.Resolved{Named: map[string]forge.Listed{"acme/tools": {ID: 9, Name: "acme/gear"}}}, []place{{ID: 9, Name: "acme/tools", Now: "acme/gear"}}, ""},
		{"what another gateway watches is left to it", []place{{ID: 5, Name: "other/one"}}, lists(), []place{{ID: 5, Name: "other/one"}}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, warnings := settle(list, c.kept, c.got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if said := strings.Join(warnings, "; "); !strings.Contains(said, c.warnings) || c.warnings == "" && said != "" {
				t.Errorf("warnings: %q", said)
			}
			if again, _ := settle(list, got, c.got); !slices.Equal(again, got) {
				t.Errorf("settled again it is %+v", again)
			}
		})
	}
}

// follower is a gateway that watches what an App is installed on. It polls when the test
// says.
type follower struct {
	*env
	set *watched
	app *localforge.App
	log bytes.Buffer
}

func (e *env) follower(list ...string) *follower {
	e.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		e.Fatal(err)
	}
	f := &follower{env: e, app: &localforge.App{ID: 7, Slug: "box", Key: &key.PublicKey, Permission: "write",
		Installations: []localforge.Installation{{ID: 70, Owner: "acme", Repos: []string{widgets}}}}}
	f.install(func(*localforge.App) {})
	// An App signs with the time of this machine.
	e.second.Store(int64(time.Since(time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)) / time.Second))
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	on, err := github.New(github.Config{BaseURL: e.forge.URL, App: github.App{ID: 7, Key: string(text)}})
	if err != nil {
		e.Fatal(err)
	}
	f.set = e.watchedBy(on, slog.New(slog.NewTextHandler(&f.log, nil)), list...)
	e.Cleanup(f.set.stopAll)
	return f
}

// watchedBy is the set of a gateway that has just started.
func (e *env) watchedBy(on *github.Client, log *slog.Logger, list ...string) *watched {
	return &watched{forge: on, list: list, client: e.client, kv: e.kv, now: time.Now, log: log, asked: make(chan struct{}, 1), pressing: true,
		build: func(repo string) (repository, []source) {
			p := e.poller(func(p *poller) { p.reader, p.repo, p.all = on, repo, false })
			return repository{issues: p}, []source{p}
		},
		run: func(context.Context, source) {},
	}
}

func (f *follower) install(change func(*localforge.App)) {
	app := *f.app
	app.Installations = slices.Clone(app.Installations)
	change(&app)
	f.app = &app
	if err := f.env.forge.PutApp(app); err != nil {
		f.Fatal(err)
	}
}

// look has the set follow the forge, and polls each repository.
func (f *follower) look() []string {
	f.Helper()
	if err := f.set.poll(f.ctx); err != nil {
		f.Fatal(err)
	}
	f.second.Add(1)
	all := f.set.names()
	for _, name := range all {
		of, _ := f.set.lookUp(name)
		f.env.poll(of.issues)
	}
	f.second.Add(1)
	return all
}

func (f *follower) reportIn(repo, title string, labels ...string) string {
	f.Helper()
	made, err := f.ann.CreateIssue(f.ctx, repo, forge.NewIssue{Title: title, Labels: labels})
	if err != nil {
		f.Fatal(err)
	}
	return Name(repo, made.Number)
}

// stands says how an instance stands: "", open, or why it is paused.
func (f *follower) stands(id string) string {
	in, err := f.client.Get(f.ctx, id)
	switch {
	case err != nil:
		return ""
	case in.GetPaused():
		return in.GetReason()
	}
	return "open"
}

func (f *follower) expect(what string, got []string, want ...string) {
	f.Helper()
	if !slices.Equal(got, want) {
		f.Errorf("%s: %q are watched, want %q", what, got, want)
	}
}

func TestRepositoriesAreAddedAndRemovedWhileTheGatewayRuns(t *testing.T) {
	e := newEnv(t)
	f := e.follower("installed", "!acme/secret")
	for _, name := range []string{"acme/tools", "acme/secret", "other/things"} {
		if err := e.forge.CreateRepo(e.ctx, name, ""); err != nil {
			t.Fatal(err)
		}
	}
	f.expect("at first", f.look(), widgets)
	first := f.reportIn(widgets, "The sum is wrong")
	old := f.reportIn("other/things", "It was open before")
	f.look()

	f.install(func(a *localforge.App) {
		a.Installations[0].Repos = nil
		a.Installations = append(a.Installations, localforge.Installation{ID: 71, Owner: "other"})
	})
	f.expect("after more was installed", f.look(), "acme/tools", widgets, "other/things")
	added := f.reportIn("other/things", "It is new")
	f.look()
	if f.stands(first) != "open" || f.stands(old) != "" || f.stands(added) != "open" {
		t.Errorf("%s is %q, %s is %q, %s is %q", first, f.stands(first), old, f.stands(old), added, f.stands(added))
	}
	held := f.reportIn(widgets, "People hold it")
	f.look()
	if _, err := e.client.Pause(e.ctx, held, "wait for Bob"); err != nil {
		t.Fatal(err)
	}

	f.install(func(a *localforge.App) { a.Installations = a.Installations[1:] })
	f.expect("after one was taken off", f.look(), "other/things")
	if why := f.stands(first); !strings.HasPrefix(why, "acme/widgets is not there to work on: ") {
		t.Errorf("%s: %q", first, why)
	}
	if _, found := f.set.lookUp(widgets); found {
		t.Error("what was taken off is still looked at")
	}
	meanwhile := f.reportIn(widgets, "It came meanwhile")
	f.look()
	if f.stands(meanwhile) != "" || f.stands(added) != "open" {
		t.Errorf("%s is %q, %s is %q", meanwhile, f.stands(meanwhile), added, f.stands(added))
	}

	f.install(func(a *localforge.App) {
		a.Installations = append(a.Installations, localforge.Installation{ID: 72, Owner: "acme"})
	})
	f.expect("after it was installed again", f.look(), "acme/tools", widgets, "other/things")
	if f.stands(first) != "open" || f.stands(meanwhile) != "open" || f.stands(held) != "wait for Bob" {
		t.Errorf("%s is %q, %s is %q, %s is %q", first, f.stands(first), meanwhile, f.stands(meanwhile), held, f.stands(held))
	}
}

func TestAnArchivedRepositoryRestsUntilItIsNoLonger(t *testing.T) {
	e := newEnv(t)
	f := e.follower("acme/*")
	f.look()
	one := f.reportIn(widgets, "The sum is wrong")
	f.look()
	if err := e.forge.ArchiveRepo(widgets, true); err != nil {
		t.Fatal(err)
	}
	f.expect("archived", f.look())
	f.expect("and still", f.look())
	if why := f.stands(one); why != archived(widgets) {
		t.Errorf("%s: %q", one, why)
	}
	// One that died after it had paused, and before it had noted that, notes it now.
	kept, revision, err := f.set.places(e.ctx)
	if err != nil || len(kept) != 1 || !kept[0].Rest {
		t.Fatalf("kept is %+v, %v", kept, err)
	}
	died := slices.Clone(kept)
	died[0].Rest = false
	if err := f.set.keepPlaces(e.ctx, kept, died, revision); err != nil {
		t.Fatal(err)
	}
	// A gateway that starts meanwhile knows it.
	f.set.on = nil
	if err := f.set.resume(e.ctx); err != nil || len(f.set.names()) != 0 {
		t.Errorf("after a restart %q are watched, %v", f.set.names(), err)
	}
	if err := e.forge.ArchiveRepo(widgets, false); err != nil {
		t.Fatal(err)
	}
	two := f.reportIn(widgets, "And now")
	f.expect("no longer", f.look(), widgets)
	if f.stands(one) != "open" || f.stands(two) != "open" {
		t.Errorf("%s is %q, %s is %q", one, f.stands(one), two, f.stands(two))
	}
}

func TestARenamedRepositoryGoesOnByItsName(t *testing.T) {
	for _, list := range []string{"acme/wid*", widgets, "installed"} {
		t.Run(list, func(t *testing.T) {
			e := newEnv(t)
			f := e.follower(list)
			f.install(func(a *localforge.App) { a.Installations[0].Repos = nil })
			f.look()
			one := f.reportIn(widgets, "The sum is wrong")
			f.look()
			if err := e.forge.RenameRepo(widgets, "acme/gadgets"); err != nil {
				t.Fatal(err)
			}
			f.expect("renamed", f.look(), widgets)
			if of, found := f.set.lookUp("Acme/Gadgets"); !found || of.issues.repo != widgets {
				t.Errorf("deliveries of the new name go to %+v", of.issues)
			}
			made, err := e.ann.CreateIssue(e.ctx, "acme/gadgets", forge.NewIssue{Title: "After it"})
			if err != nil {
				t.Fatal(err)
			}
			e.say(e.ann, 1, "It still breaks.") // by the old name
			f.expect("later", f.look(), widgets)
			e.want(1, "ann: It still breaks.")
			if two := Name(widgets, made.Number); f.stands(one) != "open" || f.stands(two) != "open" || len(e.instances()) != 2 {
				t.Errorf("%s is %q, %s is %q, of %q", one, f.stands(one), two, f.stands(two), e.instances())
			}

			// Another repository gets the old name: nobody works on it for the renamed one.
			if err := e.forge.CreateRepo(e.ctx, widgets, ""); err != nil {
				t.Fatal(err)
			}
			f.look()
			if why := f.stands(one); !strings.Contains(why, "now leads to another repository") {
				t.Errorf("%s: %q", one, why)
			}
			if err := e.forge.RenameRepo(widgets, "acme/else"); err != nil {
				t.Fatal(err)
			}
			f.look()
			if why := f.stands(one); !strings.Contains(why, "now leads to another repository") {
				t.Errorf("%s: %q", one, why)
			}
			if err := e.forge.RenameRepo("acme/gadgets", widgets); err != nil {
				t.Fatal(err)
			}
			f.look()
			if f.stands(one) != "open" {
				t.Errorf("%s: %q", one, f.stands(one))
			}
		})
	}
}

func TestAForgeThatDoesNotAnswerChangesNothing(t *testing.T) {
	e := newEnv(t)
	f := e.follower("acme/*")
	f.look()
	one := f.reportIn(widgets, "The sum is wrong")
	f.look()
	for _, path := range []string{"/app/installations", "/installation/repositories"} {
		e.forge.FailRequests("GET", path, localforge.Fault{Status: 502})
		if err := f.set.poll(e.ctx); err == nil {
			t.Errorf("%s: no error", path)
		}
		e.forge.Recover()
	}
	if all := f.set.names(); len(all) != 1 || f.stands(one) != "open" {
		t.Errorf("%q are watched, and %s is %q", all, one, f.stands(one))
	}
}

func TestTwoGatewaysKeepTheirRepositoriesApart(t *testing.T) {
	e := newEnv(t)
	if err := e.forge.CreateRepo(e.ctx, "acme/tools", ""); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	on := e.forge.Client("signalbox")
	one, two := e.watchedBy(on, log, widgets), e.watchedBy(on, log, "acme/to*")
	for range 2 {
		for _, w := range []*watched{one, two} {
			if err := w.poll(e.ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a, b := fmt.Sprint(one.names()), fmt.Sprint(two.names()); a != "[acme/widgets]" || b != "[acme/tools]" {
		t.Errorf("one watches %s, the other %s", a, b)
	}
	kept, _, err := one.places(e.ctx)
	if err != nil || len(kept) != 2 {
		t.Errorf("kept is %+v, %v", kept, err)
	}
}
