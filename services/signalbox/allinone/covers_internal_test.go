package allinone

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestABudgetOrLimitOfNoWatchedRepositoryIsRefused(t *testing.T) {
	local := []string{"local/greet", "local/parse"}
	for name, c := range map[string]struct {
		of   Config
		want string
	}{
		"its name":          {Config{Budgets: []string{"repo=local/greet,day=5usd"}, AtOnce: []string{"repo=local/parse:2"}, Watch: local}, ""},
		"a pattern of it":   {Config{Budgets: []string{"repo=local/*,day=5usd"}, Watch: local}, ""},
		"of all":            {Config{Budgets: []string{"day=5usd"}, AtOnce: []string{"3"}, Watch: local}, ""},
		"a typo":            {Config{Budgets: []string{"repo=local/gret,day=5usd"}, Watch: local}, "--budget repo=local/gret,day=5usd: none of the repositories here is local/gret; they are local/greet, local/parse; did you mean local/greet?"},
		"another owner":     {Config{AtOnce: []string{"repo=acme/*:1"}, Watch: local}, "--at-once repo=acme/*:1: none of the repositories here is acme/*; they are local/greet, local/parse"},
		"none is known":     {Config{Budgets: []string{"repo=local/gret,day=5usd"}}, ""},
		"those of the App":  {Config{Budgets: []string{"repo=acme/web,day=5usd"}, Watch: []string{"installed"}}, ""},
		"of a pattern":      {Config{Budgets: []string{"repo=acme/web,day=5usd"}, Watch: []string{"acme/w*"}}, ""},
		"patterns":          {Config{Budgets: []string{"repo=a*/web-*,day=5usd"}, Watch: []string{"acme/w*"}}, ""},
		"patterns of two":   {Config{Budgets: []string{"repo=other/*,day=5usd"}, Watch: []string{"acme/w*"}}, "--budget repo=other/*,day=5usd: none of the repositories here is other/*; they are acme/w*"},
		"what is left out":  {Config{Budgets: []string{"repo=b/x,day=5usd"}, Watch: []string{"acme/w", "!b/x"}}, "--budget repo=b/x,day=5usd: none of the repositories here is b/x; they are acme/w, !b/x"},
		"what is no budget": {Config{Budgets: []string{"repo=b/x"}, Watch: local}, ""},
	} {
		got := ""
		if err := c.of.checkCovered(); err != nil {
			if got = err.Error(); !errors.As(err, new(*service.UsageError)) {
				t.Errorf("%s: %v is no usage error", name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
