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
	models := slices.Concat(proxy, []string{"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*", "DEEPSEEK_*", "MISTRAL_*",
		"GROQ_*", "AZURE_*", "AWS_*", "OLLAMA_*"})
	return map[string]preset{
		"claude": {
			argv: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--json-schema", "{{schema}}", "--add-dir", "{{dir}}",
				"--permission-mode", "acceptEdits", "--allowedTools", "Read,Write,Edit,Glob,Grep,Bash", "--disallowedTools", "AskUserQuestion",
				"--no-session-persistence"},
			env:  slices.Concat(proxy, []string{"ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*", "CLOUD_ML_REGION"}),
			home: []string{".claude", ".claude.json", ".config/claude"},
			read: readClaude,
		},
		"codex": {
			argv: []string{"codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "{{codex-sandbox}}", "-"},
			env:  slices.Concat(proxy, []string{"OPENAI_*", "CODEX_*"}),
			home: []string{".codex"},
			read: readCodex,
		},
		"gemini": {
			// The text of -p is appended to the standard input.
			argv: []string{"gemini", "--skip-trust", "--output-format", "stream-json", "--approval-mode", "yolo", "-p",
				"Do what the text above asks."},
			env:  slices.Concat(proxy, []string{"GEMINI_*", "GOOGLE_*"}),
			home: []string{".gemini"},
			read: readGemini,
		},
		"opencode": {
			argv: []string{"opencode", "run", "--format", "json", "--auto", "Do what the following text asks."},
			env:  slices.Concat(models, []string{"OPENCODE_*"}),
			home: []string{".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"},
			read: readOpencode,
		},
		"goose": {
			argv: []string{"goose", "run", "--no-session", "--quiet", "--output-format", "stream-json", "-i", "-"},
			env:  slices.Concat(models, []string{"GOOSE_*"}),
			set:  []string{"GOOSE_MODE=auto"},
			home: []string{".config/goose", ".local/share/goose", ".local/state/goose"},
			read: readGoose,
		},
		"aider": {
			argv: []string{"aider", "--message-file", "{{prompt}}", "--yes-always", "--no-stream", "--no-pretty", "--no-auto-commits",
				"--no-dirty-commits",
				"--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-suggest-shell-commands", "--no-gitignore"},
			env:  slices.Concat(models, []string{"AIDER_*"}),
			home: []string{".aider", ".aider.conf.yml"},
			drop: ".aider*",
			read: readAider,
		},
	}
}
