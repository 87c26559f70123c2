package resolve

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/forge/github"
)

func TestARemoteIsReadInEachForm(t *testing.T) {
	for at, want := range map[string]remote{
		"https://github.com/acme/widgets.git":           {url: "https://github.com/acme/widgets.git", host: "github.com", repo: "acme/widgets"},
		"https://ann:secret@git.example.test/acme/w/":   {url: "https://ann@git.example.test/acme/w/", host: "git.example.test", repo: "acme/w"},
		"git@github.com:acme/widgets.git":               {url: "git@github.com:acme/widgets.git", host: "github.com", repo: "acme/widgets"},
		"ssh://git@git.example.test:2222/acme/widgets":  {url: "ssh://git@git.example.test:2222/acme/widgets", host: "git.example.test:2222", repo: "acme/widgets"},
		"http://127.0.0.1:8080/acme/widgets.git":        {url: "http://127.0.0.1:8080/acme/widgets.git", host: "127.0.0.1:8080", repo: "acme/widgets"},
		"https://git.example.test/groups/acme/widgets/": {url: "https://git.example.test/groups/acme/widgets/", host: "git.example.test"},
		"/srv/git/widgets.git":                          {url: "/srv/git/widgets.git"},
		"../widgets.git":                                {url: "../widgets.git"},
		"file:///srv/git/widgets.git":                   {url: "/srv/git/widgets.git"},
	} {
		if got := parseRemote(at); got != want {
			t.Errorf("%s: %+v, want %+v", at, got, want)
		}
	}
}

func TestATokenIsForTheForgesOwnHost(t *testing.T) {
	for _, c := range []struct {
		api, host string
		serves    bool
	}{
		{"https://api.github.com/", "github.com", true},
		{"https://api.github.com/", "evil.example.test", false},
		{"https://api.github.com/", "github.com.evil.example.test", false},
		{"https://git.example.test/api/v3/", "git.example.test", true},
		{"https://git.example.test/api/v3/", "github.com", false},
		{"http://127.0.0.1:8080/api/v3/", "127.0.0.1:8080", true},
		{"http://127.0.0.1:8080/api/v3/", "127.0.0.1:8081", false},
	} {
		if got := (github.Flags{URL: c.api}).Serves(c.host); got != c.serves {
			t.Errorf("%s serves %s: %t", c.api, c.host, got)
		}
	}
}
