package exec

import (
	"maps"
	"slices"
)

// Presets names the coding agents that are known, in order.
func Presets() []string { return slices.Sorted(maps.Keys(presets())) }

// presets is the table of known coding agents: how each is run unattended with
// the prompt on its standard input, and how what it prints is read. All but
// aider print an event a line as they go, so that silence means something.
func presets() map[string]preset {
	proxy := []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	models := slices.Concat(proxy, []string{"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*", "DEEPSEEK_*", "MISTRAL_*", "GROQ_*", "AZURE_*", "AWS_*", "OLLAMA_*"})
	return map[string]preset{
		"claude": {
			argv: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--json-schema", "{{schema}}", "--add-dir", "{{dir}}",
				"--permission-mode", "acceptEdits", "--allowedTools", "Read,Write,Edit,Glob,Grep,Bash", "--disallowedTools", "AskUserQuestion", "--no-session-persistence"},
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
			// What -p says comes after the standard input.
			argv: []string{"gemini", "--skip-trust", "--output-format", "stream-json", "--approval-mode", "yolo", "-p", "Do what the text above asks."},
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
			argv: []string{"aider", "--message-file", "{{prompt}}", "--yes-always", "--no-stream", "--no-pretty", "--no-auto-commits", "--no-dirty-commits",
				"--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-suggest-shell-commands", "--no-gitignore"},
			env:  slices.Concat(models, []string{"AIDER_*"}),
			home: []string{".aider", ".aider.conf.yml"},
			drop: ".aider*",
			read: readAider,
		},
	}
}
