package deploy_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

func TestTheFileOfTheClusterSetsWhatItsServicesKnow(t *testing.T) {
	bin, base := programtest.Services(t), load(t)
	for name, s := range loadCluster(t).Services {
		if base.Services[name].Build == nil {
			continue
		}
		command := []string{name}
		if first := base.Services[name].Command; first[0] == "signalbox" {
			command = first[:2]
		}
		help := help(t, filepath.Join(bin, command[0]), command[1:]...)
		for variable := range s.Environment {
			if !knows(help, "$"+variable) {
				t.Errorf("%s has no variable %s", name, variable)
			}
		}
	}
}

func TestAPublishedPortIsOneThatItsServiceListensAt(t *testing.T) {
	dir, _ := natsDir(t, "deploy/nats/container.conf")
	listens := map[string]string{"prometheus": ":9090"} // its own default
	listens["nats"] = fmt.Sprintf(":%d", serverOptions(t, "-c", filepath.Join(dir, "container.conf")).Port)
	for name, s := range load(t).Services {
		for _, published := range s.Ports {
			port := published[strings.LastIndex(published, ":"):]
			if address := cmp.Or(s.Environment["SIGNALBOX_LISTEN"], listens[name]); !strings.HasSuffix(address, port) {
				t.Errorf("%s: %s is published, and it listens at %q", name, published, address)
			}
		}
	}
}

func TestTheFirstStepThatAnAlertNamesIsACommand(t *testing.T) {
	bin := programtest.Services(t)
	named := regexp.MustCompile(`signalbox ((?:[a-z]+ )?[a-z]+)`).FindAllStringSubmatch(read(t, rules), -1)
	if len(named) < 10 {
		t.Fatalf("alerts name %d commands", len(named))
	}
	for _, m := range named {
		for words := strings.Fields(m[1]); ; words = words[:1] { // the second may be a word of the sentence
			out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "signalbox"), append(words, "--help")...).CombinedOutput()
			if err == nil {
				break
			}
			if len(words) == 1 {
				t.Errorf("signalbox %s: %v\n%s", m[1], err, out)
				break
			}
		}
	}
}
