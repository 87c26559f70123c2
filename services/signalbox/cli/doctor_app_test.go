package cli

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestTheDoctorLooksAtTheApp(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	all, few := map[string]string{}, map[string]string{}
	for _, n := range github.Needs() {
		all[n.Name], few[n.Name] = n.Access, n.Access
	}
	few["checks"] = "read"
	hook := localforge.Hook{URL: "https://hooks.example.test/", Active: true, Secret: "s"}
	on := []localforge.Installation{{ID: 70, Owner: "acme"}}
	f, err := localforge.Open(localforge.Config{Dir: t.TempDir(), Apps: []localforge.App{
		{ID: 7, Slug: "box", Key: &key.PublicKey, Permission: "write", Permissions: all, Hook: hook, Installations: on},
		{ID: 8, Slug: "few", Key: &key.PublicKey, Permission: "write", Permissions: few, Installations: on},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	from := gittest.Repo(t)
	gittest.Run(t, from, "commit", "-q", "--allow-empty", "-m", "Begin")
	for _, repo := range []string{"acme/widgets", "other/things"} {
		if err := f.CreateRepo(t.Context(), repo, from.Dir()); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(f.Handler())
	t.Cleanup(server.Close)
	f.SetURL(server.URL)
	as := func(id int64, repo string) doctorCommand {
		return doctorCommand{forgeFlags: forgeFlags{URL: server.URL + "/api/v3/", AppFlags: github.AppFlags{ID: id, KeyFile: file}, Repo: []string{repo}}}
	}
	expect(t, examined(t, as(7, "acme/widgets")), map[string]string{
		"forge token": "ok it is box[bot]'s: the App of --forge-app-id 7", "app": "ok box (id 7), " + server.URL + "/apps/box",
		"installation": "ok 70, for acme/widgets: ", "permissions": "ok all 10 ", "permission": "",
		"webhook":    "warn https://hooks.example.test/; nothing was delivered",
		"repository": "ok acme/widgets: default branch main, merges by merge, squash, rebase", "branch protection": "ok of main", "rate limit": "ok ",
		"forge clock": "ok ",
	})
	expect(t, examined(t, as(8, "acme/widgets")), map[string]string{
		"permission": "fail checks: write is needed, it has read; for the shepherd", "permissions": "", "webhook": "warn there is none",
	})
	expect(t, examined(t, as(7, "other/things")), map[string]string{
		"forge": "fail ", "app": "ok box", "installation": "fail the App is not installed on other/things", "repository": "",
	})
	expect(t, examined(t, as(7, "installed")), map[string]string{
		"repositories": "ok installed: 1, acme/widgets", "installation": "ok 70, for acme/widgets: ", "configuration": "ok acme/widgets has none",
	})
	expect(t, examined(t, as(7, "other/*")), map[string]string{
		"repositories": "warn other/*: 0, none; nothing of other/*: ", "installation": "", "configuration": "",
	})
	expect(t, examined(t, as(7, "*/*")), map[string]string{"repositories": "fail --repo \"*/*\": ", "forge": ""})
	expect(t, examined(t, as(9, "acme/widgets")), map[string]string{"forge": "fail ", "app": "fail ", "installation": ""})
}
