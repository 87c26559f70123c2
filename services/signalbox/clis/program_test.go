package clis

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cli is a coding agent as npm has it, with what it needs to speak to a model at an address.
type cli struct {
	name, pkg, version string
	env                func(address string) []string // for the program, NAME=VALUE
	pass               []string                      // names that its preset does not pass
	flags              func(address string) string   // of the preset
	settings           map[string]string             // files below HOME
}

// clis are the coding agents that are tried, at the versions that are known to work.
func clis() []cli {
	none := func(string) string { return "" }
	return []cli{{
		name: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.330", flags: none,
		env: func(address string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + address, "ANTHROPIC_API_KEY=key", "CLAUDE_CODE_MAX_RETRIES=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
		pass: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"},
	}, {
		name: "codex", pkg: "@openai/codex", version: "0.169.0",
		env: func(string) []string { return []string{"CODEX_API_KEY=key"} },
		flags: func(address string) string {
			const provider = "model_providers.scripted."
			var b strings.Builder
			for _, set := range []string{
				"model_provider=scripted", provider + "name=scripted", provider + "base_url=" + address + "/v1", provider + "wire_api=responses",
				provider + "env_key=CODEX_API_KEY", provider + "request_max_retries=1", provider + "stream_max_retries=1",
			} {
				fmt.Fprintf(&b, " -c '%s'", set)
			}
			return b.String() + " -m gpt-5"
		},
	}, {
		name: "gemini", pkg: "@google/gemini-cli", version: "0.61.0", flags: none,
		env: func(address string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + address, "GEMINI_API_KEY=key"}
		},
		settings: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}}`},
	}, {
		name: "opencode", pkg: "opencode-ai", version: "1.18.33", flags: none,
		env: func(address string) []string {
			text, err := json.Marshal(map[string]any{
				"model": "scripted/m", "small_model": "scripted/m", "autoupdate": false, "share": "disabled",
				"provider": map[string]any{"scripted": map[string]any{
					"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": map[string]any{"baseURL": address + "/v1", "apiKey": "key"},
					"models": map[string]any{"m": map[string]any{"name": "m", "tool_call": true, "limit": map[string]any{"context": 200000, "output": 8000},
						"cost": map[string]any{"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}},
				}},
			})
			if err != nil {
				panic(err) // a test's own words
			}
			return []string{"OPENCODE_CONFIG_CONTENT=" + string(text), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}
		},
		pass: []string{"OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE"},
	}}
}

// installed is a coding agent in a home of its own, below which npm has put it.
type installed struct {
	cli
	home string
}

// install installs the program below a home in dir, as `npm install -g` with a prefix in the
// home does, unless it is there. It skips the test without the registry.
func (c cli) install(t *testing.T, dir string) installed {
	t.Helper()
	in := installed{c, filepath.Join(dir, c.name)}
	prefix := filepath.Join(in.home, ".npm-global")
	if said, err := exec.Command(in.program(), "--version").Output(); err != nil || !strings.Contains(string(said), c.version) {
		if err := os.MkdirAll(prefix, 0o755); err != nil {
			t.Fatal(err)
		}
		npm := exec.Command("npm", "install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", c.pkg+"@"+c.version)
		if said, err := npm.CombinedOutput(); err != nil {
			fmt.Printf("skipped: %s %s is not here, and npm cannot install it: %v: %s\n", c.pkg, c.version, err, last(string(said)))
			t.SkipNow()
		}
	}
	for name, text := range c.settings {
		path := filepath.Join(in.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func (in installed) program() string {
	return filepath.Join(in.home, ".npm-global", "bin", in.name)
}

// environ is the environment of signalbox where the program's model is at an address.
func (in installed) environ(address string) []string {
	path := filepath.Dir(in.program()) + ":" + os.Getenv("PATH")
	env := []string{"HOME=" + in.home, "PATH=" + path, "LANG=C.UTF-8", "GOCACHE=" + os.Getenv("GOCACHE"), "GIT_CONFIG_GLOBAL=/dev/null"}
	return append(env, in.env(address)...)
}

// spec is the brain, with more flags of its preset.
func (in installed) spec(address, flags string) string {
	return strings.TrimSpace("exec:" + in.name + in.flags(address) + " " + flags)
}

// shared are the flags of doctor and resolve that let the program work.
func (in installed) shared(address, mode string) []string {
	flags := []string{"--sandbox", mode}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		flags = append(flags, "--egress", u.Host)
	}
	for _, name := range in.pass {
		flags = append(flags, "--brain-env", name)
	}
	return flags
}

func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
