package outbound

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/secret"
)

func scan(patch string, size int) []Finding {
	var found []Finding
	secrets, err := secret.New()
	if err != nil {
		panic(err)
	}
	s := &patchScanner{secrets: secrets, report: func(v Finding) { found = append(found, v) }}
	for part := range slices.Chunk([]byte(patch), size) {
		_, _ = s.Write(part)
	}
	s.flush()
	return found
}

func TestEveryKindOfSecretIsRecognised(t *testing.T) {
	a := func(n int) string { return strings.Repeat("A", n) }
	// Put together here, so that no scanner takes this file for a leak.
	samples := map[string]string{
		"-----BEGIN OPENSSH PRIVATE" + " KEY-----":   "pem-private-key",
		"-----BEGIN PGP PRIVATE" + " KEY BLOCK-----": "pem-private-key",
		"-----BEGIN PRIVATE" + " KEY-----":           "pem-private-key",
		"ghs" + "_" + a(36):                          "github-token",
		"github" + "_pat_" + a(60):                   "github-token",
		"glp" + "at-" + a(20):                        "gitlab-token",
		"AS" + "IA" + a(16):                          "aws-access-key",
		"sk-" + "ant-api03-" + a(20):                 "anthropic-key",
		"sk-" + "proj-" + a(40):                      "openai-key",
		"sk-" + a(48):                                "openai-key",
		"xox" + "b-" + a(10):                         "slack-token",
		"AI" + "za" + a(35):                          "google-key",
		"sk_" + "live_" + a(24):                      "stripe-key",
		"np" + "m_" + a(36):                          "npm-token",
		"SU" + a(56):                                 "nats-seed",
	}
	for sample, what := range samples {
		found := scan("+++ b/f\n@@ -0,0 +1 @@\n+x=\""+sample+"\"\n", 7)
		if len(found) != 1 || found[0] != (Finding{Rule: "secret", Path: "f", Line: 1, Detail: "a likely credential (" + what + ")"}) {
			t.Errorf("%s: found %v", what, found)
		}
	}
}

func TestOnlyAddedLinesAreLookedAtWithTheirNumbers(t *testing.T) {
	key := "AK" + "IA" + strings.Repeat("Q", 16)
	patch := strings.ReplaceAll(`diff --git a/old b/new KEY
--- a/old
+++ "b/\303\274 x"
@@ -3,2 +3,3 @@ func KEY
-removed KEY
-+++ b/not a path
+one
+++ b/not a path either, KEY
+three
@@ -9 +10 @@
-KEY
\ No newline at end of file
+KEY
\ No newline at end of file
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-KEY
`, "KEY", key)
	for _, size := range []int{1, 10, 1000} {
		var got []string
		for _, v := range scan(patch, size) {
			got = append(got, v.String())
		}
		want := []string{"ü x:4: a likely credential (aws-access-key) (secret)",
			"ü x:10: a likely credential (aws-access-key) (secret)"}
		if !slices.Equal(got, want) {
			t.Errorf("in parts of %d bytes: found %q", size, got)
		}
	}
}

func TestASecretAtAnyPlaceOfALongLineIsFound(t *testing.T) {
	key := " AK" + "IA" + strings.Repeat("Q", 16) + " "
	for at := chunk - 2*overlap; at < chunk+2*overlap; at += 173 {
		line := strings.Repeat(" ", at) + key + strings.Repeat(" ", chunk)
		added := scan("+++ b/f\n@@ -1 +1 @@\n-"+line+"\n+"+line+"\n", 4096)
		if len(added) == 0 || slices.ContainsFunc(added, func(v Finding) bool { return v.Line != 1 }) {
			t.Fatalf("at %d: %v", at, added)
		}
		if removed := scan("+++ b/f\n@@ -1 +1 @@\n-"+line+"\n+fine\n", 4096); len(removed) != 0 {
			t.Fatalf("at %d of a removed line: %v", at, removed)
		}
	}
}
