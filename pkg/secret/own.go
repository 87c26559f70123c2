package secret

import (
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/regexp"
)

// own are the rules for kinds that gitleaks has none for, or only one that wants
// more around them. The first group of each is the credential.
func own() []config.Rule {
	return []config.Rule{
		{RuleID: "aws-secret-key", Keywords: []string{"aws", "secret"},
			Regex: regexp.MustCompile(`(?i)(?:aws|secret)[a-z0-9_.\- ]{0,30}(?:key|secret)["'\x60]?\s*(?:=|:|=>|,)\s*["'\x60]?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`), Entropy: 3.5},
		{RuleID: "nats-seed", Keywords: []string{"SA", "SC", "SN", "SO", "SU", "SX"},
			Regex: regexp.MustCompile(`(?:^|[^A-Z0-9])(S[ACNOUX][A-Z2-7]{56})(?:[^A-Z0-9]|$)`), Entropy: 3},
		{RuleID: "npmrc-auth", Keywords: []string{"_authtoken", "_auth", "_password"},
			Regex: regexp.MustCompile(`(?i)_(?:authToken|auth|password)\s*=\s*["']?([A-Za-z0-9+/=_.\-]{16,})`), Entropy: 3},
		{RuleID: "password-in-url", Keywords: []string{"://"},
			Regex: regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.\-]{1,20}://[^\s:/@"'<>{}$]{1,64}:([^\s/@"'<>{}$*%]{6,})@[a-zA-Z0-9.\-]+`), Entropy: 2.5},
		{RuleID: "putty-private-key", Keywords: []string{"putty-user-key-file"},
			Regex: regexp.MustCompile(`(PuTTY-User-Key-File-[23]: [a-z0-9-]+)`)},
		{RuleID: "stripe-webhook-secret", Keywords: []string{"whsec_"},
			Regex: regexp.MustCompile(`(whsec_[A-Za-z0-9+/=]{24,})`)},
		{RuleID: "docker-pat", Keywords: []string{"dckr_pat_", "dckr_oat_"},
			Regex: regexp.MustCompile(`(dckr_[po]at_[A-Za-z0-9_\-]{20,})`)},
		{RuleID: "twilio-account-key", Keywords: []string{"sk"},
			Regex: regexp.MustCompile(`(?:^|[^A-Za-z0-9])(SK[0-9a-f]{32})(?:[^A-Za-z0-9]|$)`), Entropy: 3},
		{RuleID: "azure-storage-key", Keywords: []string{"accountkey", "sharedaccesskey"},
			Regex: regexp.MustCompile(`(?i)(?:AccountKey|SharedAccessKey)\s*=\s*([A-Za-z0-9+/]{40,}={0,2})`)},
		{RuleID: "google-oauth-secret", Keywords: []string{"gocspx-"},
			Regex: regexp.MustCompile(`(GOCSPX-[A-Za-z0-9_\-]{28})`)},
		{RuleID: "google-refresh-token", Keywords: []string{"ya29.", "1//"},
			Regex: regexp.MustCompile(`(ya29\.[A-Za-z0-9_\-]{30,}|1//0[A-Za-z0-9_\-]{40,})`)},
		{RuleID: "openai-key", Keywords: []string{"sk-"},
			Regex: regexp.MustCompile(`(sk-(?:(?:proj|svcacct|admin|ant)-[A-Za-z0-9_\-]{20,}|[A-Za-z0-9]{48}))`), Entropy: 2.5},
		{RuleID: "github-token", Keywords: []string{"gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"},
			Regex: regexp.MustCompile(`(gh[oprsu]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,})`)},
		{RuleID: "gitlab-token", Keywords: []string{"glpat-"}, Regex: regexp.MustCompile(`(glpat-[A-Za-z0-9_\-]{20})`)},
		{RuleID: "slack-token", Keywords: []string{"xox", "xapp-"}, Regex: regexp.MustCompile(`(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]+)`)},
		{RuleID: "npm-token", Keywords: []string{"npm_"}, Regex: regexp.MustCompile(`(npm_[A-Za-z0-9]{36})`)},
		{RuleID: "stripe-key", Keywords: []string{"k_live_", "k_test_"}, Regex: regexp.MustCompile(`([rs]k_(?:live|test)_[A-Za-z0-9]{24})`)},
		{RuleID: "aws-access-key", Keywords: []string{"akia", "asia"}, Regex: regexp.MustCompile(`(?:^|[^A-Z0-9])((?:AKIA|ASIA)[A-Z0-9]{16})(?:[^A-Z0-9]|$)`),
			Allowlists: []*config.Allowlist{{StopWords: []string{"EXAMPLE"}}}},
		{RuleID: "private-key-header", Keywords: []string{"private key"}, Regex: regexp.MustCompile(`(-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)`)},
	}
}
