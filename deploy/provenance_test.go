package deploy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// engine is a docker that has two images, one with packages of Debian.
const engine = `#!/bin/sh
case "$1 $2" in
"image inspect")
	case "$4" in '{{.Created}}') echo 2026-01-02T03:04:05Z ;; *) echo sha256:$(printf %s "$5" | sha256sum | cut -d' ' -f1) ;; esac ;;
create*) echo "$2" ;;
cp*)
	case "$3" in
	signalbox/static*/status) exit 1 ;;
	*/status) printf 'Package: git\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:2.39.5-0+deb12u2\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n' > "$4/status" ;;
	*) echo program > "$4/$(basename "$3")" ;;
	esac ;;
rm*) ;;
*) echo "docker $*" >&2; exit 1 ;;
esac
`

// gomod is a cyclonedx-gomod that finds one module.
const gomod = `#!/bin/sh
while [ "$1" != -output ]; do shift; done
printf '{\n  "bomFormat": "CycloneDX",\n  "metadata": {\n    "timestamp": "2026-01-02T03:04:05Z",\n    "tools": {}\n  },\n  "components": []\n}\n' > "$2"
`

type statement struct {
	Type    string `json:"_type"`
	Subject []struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	PredicateType string `json:"predicateType"`
	Predicate     struct {
		BuildDefinition struct {
			BuildType            string         `json:"buildType"`
			ExternalParameters   map[string]any `json:"externalParameters"`
			ResolvedDependencies []dependency   `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		RunDetails struct {
			Builder    map[string]string `json:"builder"`
			Metadata   map[string]string `json:"metadata"`
			Byproducts []dependency      `json:"byproducts"`
		} `json:"runDetails"`
	} `json:"predicate"`
}

// dependency is a resource of in-toto.
type dependency struct {
	Name   string            `json:"name"`
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

func TestEachImageHasItsMaterialsAndWhereItComesFrom(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{"docker": engine, "gomod": gomod} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	revision := strings.Repeat("a1", 20)
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/provenance"), "static", "runtime")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "OUT="+filepath.Join(dir, "out"), "SBOM_TOOL="+filepath.Join(dir, "gomod"), "VERSION=v1.2.3", "REVISION="+revision)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for target, bills := range map[string][]string{"static": {"signalbox-github", "signalbox"}, "runtime": {"debian", "signalbox-github", "signalbox"}} {
		text, err := os.ReadFile(filepath.Join(dir, "out", target+".provenance.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s statement
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&s); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		image := "signalbox/" + target + ":v1.2.3"
		if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" ||
			len(s.Subject) != 1 || s.Subject[0].Name != image || s.Subject[0].Digest["sha256"] != sum([]byte(image)) {
			t.Errorf("%s: it is of %+v", target, s.Subject)
		}
		from := s.Predicate.BuildDefinition.ResolvedDependencies
		if len(from) != 3 || from[0].Digest["gitCommit"] != revision || !strings.HasPrefix(from[1].URI, "pkg:docker/golang@") || !strings.HasPrefix(from[2].URI, "pkg:docker/debian@") {
			t.Errorf("%s: it comes from %+v", target, from)
		}
		if len(s.Predicate.RunDetails.Byproducts) != len(bills) {
			t.Errorf("%s has the bills %+v", target, s.Predicate.RunDetails.Byproducts)
		}
		for i, bill := range s.Predicate.RunDetails.Byproducts {
			text, err := os.ReadFile(filepath.Join(dir, "out", bill.Name))
			if err != nil || bill.Name != target+"."+bills[i]+".cdx.json" || bill.Digest["sha256"] != sum(text) {
				t.Errorf("%s: the bill %s has not its digest: %v", target, bill.Name, err)
			}
			if !json.Valid(text) || strings.Contains(string(text), "timestamp") {
				t.Errorf("%s:\n%s", bill.Name, text)
			}
			if bills[i] == "debian" && (!strings.Contains(string(text), `"pkg:deb/debian/git@1:2.39.5-0+deb12u2?arch=amd64"`) || strings.Contains(string(text), "gone")) {
				t.Errorf("%s:\n%s", bill.Name, text)
			}
		}
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
