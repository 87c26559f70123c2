package exec

import "slices"

// service is what a model's API needs in an environment and of a network.
type service struct{ env, hosts, bases []string }

// services are the APIs that presets name as their models. Their variables are listed each
// by its name: next to them in an environment lie those of whole clouds.
func services() map[string]service {
	anthropic := service{
		env: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL",
			"ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS",
			"ANTHROPIC_BEDROCK_BASE_URL"},
		hosts: []string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com"},
		bases: []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL"},
	}
	openai := service{
		env:   []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "OPENAI_MODEL"},
		hosts: []string{"api.openai.com", "auth.openai.com", "chatgpt.com"},
		bases: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"},
	}
	gemini := service{
		env: []string{"GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
			"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"},
		hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
		bases: []string{"GOOGLE_GEMINI_BASE_URL"},
	}
	others := service{
		env:   []string{"OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "OLLAMA_HOST", "OLLAMA_API_BASE"},
		hosts: []string{"openrouter.ai", "api.deepseek.com", "api.mistral.ai", "api.groq.com", "models.dev"},
		bases: []string{"OLLAMA_HOST", "OLLAMA_API_BASE"},
	}
	all := map[string]service{"anthropic": anthropic, "openai": openai, "gemini": gemini}
	all["any"] = service{
		env:   slices.Concat(anthropic.env, openai.env, gemini.env, others.env),
		hosts: slices.Concat(anthropic.hosts, openai.hosts, gemini.hosts, others.hosts),
		bases: slices.Concat(anthropic.bases, openai.bases, gemini.bases, others.bases),
	}
	return all
}

// environ returns the names of the variables that are passed on.
func (p preset) environ() []string {
	var names []string
	if p.read != nil {
		names = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	}
	for _, name := range p.Models {
		names = append(names, services()[name].env...)
	}
	return append(names, p.Env...)
}

// apis returns the hosts of its models, and the variables that name others.
func (p preset) apis() (hosts, bases []string) {
	hosts, bases = slices.Clone(p.Hosts), slices.Clone(p.Bases)
	for _, name := range p.Models {
		hosts, bases = append(hosts, services()[name].hosts...), append(bases, services()[name].bases...)
	}
	return hosts, bases
}

// given returns the variables that it is given, name=value, sorted.
func (p preset) given() []string {
	var env []string
	for name, value := range p.Set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}
