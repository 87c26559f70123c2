package outbound_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestAnIdentityIsReadAsGitWritesIt(t *testing.T) {
	bot := outbound.Identity{Name: "box[bot]", Email: "7+box[bot]@users.noreply.github.com"}
	for text, want := range map[string]outbound.Identity{
		"": {}, bot.String(): bot, "Ann Lee <ann@example.com>": {Name: "Ann Lee", Email: "ann@example.com"},
	} {
		if got, err := outbound.ParseIdentity(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"me", "<a@b>", "me <a>", "me <a@b", "me\n<a@b>", "me <a@b> <c@d>", "me <a @b>", "m\ne <a@b>"} {
		if got, err := outbound.ParseIdentity(text); err == nil {
			t.Errorf("%q was taken for %v", text, got)
		}
	}
}

// What was begun before the App was there goes on.
func TestCommitsOfTheProductLeaveBesideThoseOfTheBot(t *testing.T) {
	bot, product := outbound.Identity{Name: "box[bot]", Email: "7+box[bot]@users.noreply.github.com"}, outbound.DefaultIdentity()
	g := git.New(t.TempDir()).WithIdentity("Ada", "ada@example.test")
	gittest.Run(t, g, "init", "-q")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	base := gittest.Run(t, g, "rev-parse", "HEAD")
	gittest.Run(t, g.WithIdentity(product.Name, product.Email), "commit", "-q", "--allow-empty", "-m", "of the product")
	gittest.Run(t, g.WithIdentity(bot.Name, bot.Email), "commit", "-q", "--allow-empty", "-m", "of the bot")
	ours := gittest.Run(t, g, "rev-parse", "HEAD")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "of Ada")
	rules := outbound.DefaultRules()
	rules.Identity = bot
	checker := newChecker(t).With(rules)
	if found, err := checker.Commits(t.Context(), g, ours, base); err != nil || len(found) > 0 {
		t.Errorf("ours: %v, %v", found, err)
	}
	found, err := checker.Commits(t.Context(), g, "HEAD", ours)
	if err != nil || len(found) != 2 || found[0].Rule != "identity" {
		t.Errorf("Ada's: %v, %v", found, err)
	}
}
