package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/testkit/browsertest"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// A person sees the demonstration in a browser alone: the board, the instance, its question, which they answer there, and the end. All
// parts are started again while the page is open.
func TestTheDemonstrationIsWatchedInABrowser(t *testing.T) {
	address := porttest.Address(t)
	b := browsertest.Open(t, "http://"+address)
	dir := t.TempDir()
	scripts, err := unpack(t.Context(), filepath.Join(dir, "stage"))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(t.Context(), sandbox.Auto)
	if err != nil && !errors.Is(err, sandbox.ErrUnconfined) {
		t.Fatal(err)
	}
	mode := string(box.Mode())
	if err != nil {
		mode = string(sandbox.None) // these scripts alone run
	}
	system := func(watch func(ctx context.Context, s *allinone.System)) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
		defer cancel()
		ready, watched, ended := make(chan *allinone.System, 1), make(chan struct{}), make(chan error, 1)
		defer func() { // also when watching has failed
			close(watched)
			if err := <-ended; err != nil {
				t.Errorf("the system ended with %v", err)
			}
		}()
		main := func(ctx context.Context, s *allinone.System) error {
			ready <- s
			select {
			case <-watched:
			case <-ctx.Done():
			}
			return nil
		}
		go func() {
			ended <- allinone.Run(ctx, allinone.Config{
				Dir: dir, Log: slog.New(slog.DiscardHandler), Flags: service.Flags{Grace: 20 * time.Second}, Workflow: "issue", Every: 200 * time.Millisecond,
				Console: address, Operator: "operator:ann", Repos: map[string]allinone.Source{repo: {Dir: scripts.repo}}, Login: "ann", Main: main,
				Agents: role.Settings{Sandbox: mode, Brain: scripts.brains()},
			})
		}()
		select {
		case s := <-ready:
			watch(ctx, s)
		case <-ctx.Done():
			t.Error("the system does not start")
		}
	}
	const at = "document.querySelector('#now dd code')?.innerText"
	system(func(ctx context.Context, s *allinone.System) {
		b.Go(s.Console.SignInLink()[len("http://"+address):])
		b.Shows("Board")
		reporter, err := github.New(github.Config{BaseURL: s.Forge.API(), Token: s.Forge.Secret})
		if err != nil {
			t.Fatal(err)
		}
		title, body, err := report()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reporter.CreateIssue(ctx, repo, forge.NewIssue{Title: title, Body: body}); err != nil {
			t.Fatal(err)
		}
		b.Shows(title)
		b.Go("/i/acme/widgets/1")
		b.Within(7*time.Minute, at+" === 'waiting_for_requirements_clarification'")
		b.Shows("It has waited for people for")
	})
	b.Shows("not connected")
	answer, err := asset.ReadFile("asset/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	system(func(_ context.Context, s *allinone.System) {
		b.Shows("Sign in") // its session ended with the console, and the page found out by itself
		b.Go(s.Console.SignInLink()[len("http://"+address):])
		b.Wait("document.querySelector('h1')?.innerText === 'Board' && document.getElementById('stream')?.classList.contains('live')")
		b.Go("/inbox")
		b.Wait("document.querySelector('input[name=q2]:checked')?.value === 'on a last page of their own'") // the default
		b.Shows("Why: page.Count drops the rest of a division")
		fill := ""
		for _, one := range strings.Split(strings.TrimSpace(string(answer)), "\n\n") {
			number, text, _ := strings.Cut(strings.TrimPrefix(one, "Q"), ": ")
			if number != "2" { // a choice
				fill += fmt.Sprintf("document.querySelector('textarea[name=q%s]').value = %q; ", number, text)
			}
		}
		b.Run(fill + "document.querySelector('button[value=answer]').click()")
		b.Shows("acme/widgets/1: ")
		b.Go("/i/acme/widgets/1")
		b.Within(7*time.Minute, at+" === 'completed'")
		b.Shows("red on the base, green on the change")
		b.Go("/diff/acme/widgets/1")
		b.Wait("document.querySelectorAll('.diff .added').length > 0")
		const sides = "document.querySelector('.diff:not(.one) .copy').getBoundingClientRect().left > document.querySelector('.diff:not(.one) .same > .same').getBoundingClientRect().right - 1"
		b.Size(1200, 720, false)
		b.Wait(sides)
		b.Size(390, 844, false)
		b.Wait("getComputedStyle(document.querySelector('.diff:not(.one) .copy')).display === 'none' && document.documentElement.scrollWidth <= 390")
	})
	if wrong := b.Wrong(); len(wrong) > 0 {
		t.Errorf("the pages did %q", wrong)
	}
}
