package exec

import (
	"maps"
	"slices"
)

// Presets returns the names of the known coding agents, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets())) }

// presets returns the known coding agents: how each runs unattended with the
// prompt on its standard input, and the reader of its output. All but aider print
// one event per line while they work, so the idle limit applies.
func presets() map[string]preset {
	proxy := []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	models := slices.Concat(proxy, anthropic(), openai(), gemini(), []string{
		"OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "OLLAMA_HOST", "OLLAMA_API_BASE"})
	hosts := slices.Concat(anthropicHosts(), openaiHosts(), geminiHosts(), []string{
		"openrouter.ai", "api.deepseek.com", "api.mistral.ai", "api.groq.com", "models.dev"})
	bases := []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST", "OLLAMA_API_BASE"}
	return map[string]preset{
		"claude": {
			argv: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--json-schema", "{{schema}}", "--add-dir", "{{dir}}",
				"--permission-mode", "acceptEdits", "--allowedTools", "Read,Write,Edit,Glob,Grep,Bash", "--disallowedTools", "AskUserQuestion",
				"--no-session-persistence"},
			env: slices.Concat(proxy, anthropic(), []string{"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
				"CLAUDE_CODE_USE_BEDROCK", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "MAX_THINKING_TOKENS"}),
			login: []string{".claude/.credentials.json", ".claude/settings.json", ".claude.json"},
			hosts: anthropicHosts(),
			bases: []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL"},
			read:  readClaude,
		},
		"codex": {
			argv:  []string{"codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "{{codex-sandbox}}", "-"},
			env:   slices.Concat(proxy, openai(), []string{"CODEX_API_KEY"}),
			login: []string{".codex/auth.json", ".codex/config.toml"},
			hosts: openaiHosts(),
			bases: []string{"OPENAI_BASE_URL"},
			read:  readCodex,
		},
		"gemini": {
			// The text of -p is appended to the standard input.
			argv: []string{"gemini", "--skip-trust", "--output-format", "stream-json", "--approval-mode", "yolo", "-p",
				"Do what the text above asks."},
			env:   slices.Concat(proxy, gemini()),
			login: []string{".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/settings.json", ".gemini/installation_id"},
			hosts: geminiHosts(),
			bases: []string{"GOOGLE_GEMINI_BASE_URL"},
			read:  readGemini,

			exits: map[int]string{41: "log gemini in, or give a valid key", 52: "correct the settings of gemini"},

			exitsWithStatus: true,
		},
		"opencode": {
			argv:  []string{"opencode", "run", "--format", "json", "--auto", "Do what the following text asks."},
			env:   slices.Concat(models, []string{"OPENCODE_CONFIG_CONTENT", "OPENCODE_API_KEY"}),
			login: []string{".config/opencode/opencode.json", ".config/opencode/opencode.jsonc", ".local/share/opencode/auth.json"},
			hosts: append(hosts, "opencode.ai"),
			bases: bases,
			read:  readOpencode,
		},
		"goose": {
			argv:  []string{"goose", "run", "--no-session", "--quiet", "--output-format", "stream-json", "-i", "-"},
			env:   slices.Concat(models, []string{"GOOSE_PROVIDER", "GOOSE_MODEL"}),
			set:   []string{"GOOSE_MODE=auto"},
			login: []string{".config/goose/config.yaml", ".config/goose/secrets.yaml"},
			hosts: hosts,
			bases: bases,
			read:  readGoose,
		},
		"aider": {
			argv: []string{"aider", "--message-file", "{{prompt}}", "--yes-always", "--no-stream", "--no-pretty", "--no-auto-commits",
				"--no-dirty-commits",
				"--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-suggest-shell-commands", "--no-gitignore"},
			env:   slices.Concat(models, []string{"AIDER_MODEL", "AIDER_WEAK_MODEL", "AIDER_EDITOR_MODEL"}),
			login: []string{".aider.conf.yml"},
			drop:  ".aider*",
			hosts: hosts,
			bases: bases,
			read:  readAider,
		},
	}
}

// The variables of a model's API, each by its name: beside them in an environment
// lie those of whole clouds.

func anthropic() []string {
	return []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL",
		"ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS",
		"ANTHROPIC_BEDROCK_BASE_URL"}
}

func openai() []string {
	return []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "OPENAI_MODEL"}
}

func gemini() []string {
	return []string{"GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"}
}

func anthropicHosts() []string {
	return []string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com"}
}

func openaiHosts() []string { return []string{"api.openai.com", "auth.openai.com", "chatgpt.com"} }

func geminiHosts() []string {
	return []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"}
}
