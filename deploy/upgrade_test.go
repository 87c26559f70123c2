package deploy_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair is which version serves: the previous one or this one.
type pair struct{ orchestrators, agents version }

type version bool

const previous, this version = false, true

func (v version) String() string {
	return map[version]string{previous: "previous", this: "this"}[v]
}

// pairs returns the versions that serve one after the other: all four pairs, the way back and forward again; or the way
// forward alone.
func pairs(back bool) []pair {
	way := []pair{{previous, previous}, {this, previous}, {this, this}}
	if back {
		way = append(way, pair{previous, this}, pair{previous, previous}, pair{this, this})
	}
	return way
}

// upgrade is a set of containers whose services are replaced by those of another version.
type upgrade struct {
	*containers
	programs map[version]string // directories
	images   map[version]string
	accounts map[version]string // what NATS reads
	rewrites bool               // the two versions want other accounts: their orchestrators are never there together
}

// TestTwoVersionsServeOneLog replaces the services one after the other, forward and back, while a developer works. An issue
// that begins with one pair of versions ends with the next. SIGNALBOX_PREVIOUS is the directory of the previous version's
// programs; SIGNALBOX_WAY=forward leaves out the way back.
func TestTwoVersionsServeOneLog(t *testing.T) {
	dir := os.Getenv("SIGNALBOX_PREVIOUS")
	if dir == "" {
		t.Skip("skipped: it needs the programs of another version; make upgrade builds them")
	}
	s := newContainers(t)
	u := &upgrade{containers: s, programs: map[version]string{previous: dir, this: s.bin}, images: map[version]string{previous: s.name + "-previous", this: s.name}}
	s.image(t, dir, u.images[previous])
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", "--force", u.images[previous]).Run() })
	u.makeAccounts(t)
	u.gate(t)
	s.start(t, "nats", "")
	s.start(t, "local-forge", "")
	s.push(t)

	table := ""
	way := pairs(os.Getenv("SIGNALBOX_WAY") != "forward")
	for i, p := range way {
		t.Run(fmt.Sprintf("orchestrators of %s version, agents of %s", p.orchestrators, p.agents), func(t *testing.T) {
			began, before := time.Now(), 2*i-1 // its pull request has the next number
			u.serve(t, p)
			if i == 0 {
				u.begin(t, 1)
				return
			}
			outcome := "was not completed"
			defer func() {
				table += fmt.Sprintf("| %.8s | %s | %s | %s | %d s |\n", filepath.Base(dir), p.orchestrators, p.agents, outcome, int(time.Since(began).Seconds()))
			}()
			s.untilState(t, before, "completed")
			outcome = "completed"
			if i < len(way)-1 {
				u.begin(t, before+2)
			}
		})
		if t.Failed() {
			break
		}
	}
	s.bin = u.programs[this]
	if out, err := s.signalbox("audit"); err != nil {
		t.Errorf("audit: %v\n%s", err, out)
	}
	pulls := strings.Count(s.ask(t, http.MethodGet, "pulls?state=all&per_page=100", "", http.StatusOK), `"merge_commit_sha"`)
	if pulls != len(way)-1 {
		t.Errorf("there are %d pull requests of %d issues", pulls, len(way)-1)
	}
	t.Log("\n" + table)
	if page := os.Getenv("SIGNALBOX_TABLE"); page != "" && !t.Failed() {
		writeRows(t, page, filepath.Base(dir), table)
	}
}

const upgradeHead = "| previous | orchestrators | agents | the issue that began before | after |\n|---|---|---|---|---|\n"

// writeRows writes a table of a page again, with these rows in place of those of that commit.
func writeRows(t *testing.T, page, commit, rows string) {
	t.Helper()
	text, old, _ := strings.Cut(readFile(t, page), upgradeHead)
	kept := ""
	for row := range strings.Lines(old) {
		if !strings.HasPrefix(row, fmt.Sprintf("| %.8s |", commit)) {
			kept += row
		}
	}
	if err := os.WriteFile(page, []byte(text+upgradeHead+kept+rows), 0o644); err != nil {
		t.Fatal(err)
	}
}

// makeAccounts makes the keys as the previous version does, and of them this version's accounts as docs/access.md tells.
func (u *upgrade) makeAccounts(t *testing.T) {
	t.Helper()
	dir := u.path("deploy/nats/access")
	tokens := map[string]string{"forge.token": "", "person.token": ""}
	for name := range tokens {
		tokens[name] = readFile(t, filepath.Join(dir, name))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	u.accounts = map[version]string{}
	auth := func(of version, verb string) {
		u.bin = u.programs[of]
		if out, err := u.signalbox("auth", verb, "--dir", "deploy/nats/access"); err != nil {
			t.Fatalf("auth %s of %s version: %v\n%s", verb, of, err, out)
		}
		u.accounts[of] = readFile(t, filepath.Join(dir, "accounts.conf"))
	}
	auth(previous, "init")
	auth(this, "upgrade")
	_, err := os.Stat(filepath.Join(dir, "accounts.conf.before-upgrade"))
	u.rewrites = err == nil
	auth(this, "init") // for the parties that are new
	for name, token := range tokens {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u.write(t, u.accounts[previous])
	u.own(t, "deploy/nats/access")
}

const opened = "# open\n"

// gate has the developer's brain work until its script ends with opened: the sandbox shows it no other file of the test.
func (u *upgrade) gate(t *testing.T) {
	t.Helper()
	script := readFile(t, u.developer())
	if err := os.WriteFile(u.developer(), []byte("until tail -n 1 \"$0\" | grep '^# open' >/dev/null; do sleep 1; done\n"+script), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (u *upgrade) developer() string { return u.path("deploy/brains/demo/developer.sh") }

// open lets the developer's brain go on. The file stays the one that the container has.
func (u *upgrade) open(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(u.developer(), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(opened)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// close has it wait again.
func (u *upgrade) close(t *testing.T) {
	t.Helper()
	size := len(strings.TrimSuffix(readFile(t, u.developer()), opened))
	if err := os.Truncate(u.developer(), int64(size)); err != nil {
		t.Fatal(err)
	}
}

// begin opens an issue, and answers its questions; a developer works at it from then on.
func (u *upgrade) begin(t *testing.T, issue int) {
	t.Helper()
	u.close(t)
	u.post(t, "issues", "issue.json")
	u.untilState(t, issue, "waiting_for_requirements_clarification")
	u.post(t, fmt.Sprintf("issues/%d/comments", issue), "answer.json")
	u.until(t, "a developer works", func() bool {
		out, err := exec.Command("docker", "top", u.name+"-developer").Output()
		return err == nil && strings.Contains(string(out), "demo/developer.sh")
	})
}

// serve replaces the services that are of another version: orchestrators first. Work that is under way outlasts them; it
// ends before its agent is replaced.
func (u *upgrade) serve(t *testing.T, p pair) {
	t.Helper()
	u.bin = u.programs[p.orchestrators]
	orchestrators := []string{"orchestrator", "orchestrator-2"}
	if accounts := u.path("deploy/nats/access/accounts.conf"); readFile(t, accounts) != u.accounts[p.orchestrators] && (u.rewrites || p.orchestrators == this) {
		for i := 0; u.rewrites && i < len(orchestrators); i++ {
			u.stop(t, orchestrators[i])
		}
		u.write(t, u.accounts[p.orchestrators])
		u.docker(t, "kill", "--signal", "HUP", u.name+"-nats")
	}
	for _, name := range orchestrators {
		u.replace(t, name, p.orchestrators)
	}
	u.open(t)
	for _, name := range []string{"gateway", "pm", "analyst", "tester", "developer"} {
		u.replace(t, name, p.agents)
	}
}

// write puts the accounts where NATS reads them.
func (u *upgrade) write(t *testing.T, accounts string) {
	t.Helper()
	if err := os.WriteFile(u.path("deploy/nats/access/accounts.conf"), []byte(accounts), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace ends a container, unless it is of that version, and starts one of it.
func (u *upgrade) replace(t *testing.T, name string, v version) {
	t.Helper()
	if now, err := exec.Command("docker", "inspect", "--format", "{{.Config.Image}} {{.State.Status}}", u.name+"-"+name).Output(); err == nil && strings.TrimSpace(string(now)) == u.images[v]+" running" {
		return
	}
	u.stop(t, name)
	service, number, _ := strings.Cut(name, "-")
	u.containers.images = map[string]string{service: u.images[v]}
	u.start(t, service, number)
	u.untilHealthy(t)
}

// stop ends a container as an upgrade does: it has the time to end its step.
func (u *upgrade) stop(t *testing.T, name string) {
	t.Helper()
	if exec.Command("docker", "inspect", u.name+"-"+name).Run() == nil {
		u.docker(t, "stop", "--time", "40", u.name+"-"+name)
		u.remove(t, name)
	}
}
