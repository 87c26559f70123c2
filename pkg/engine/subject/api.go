package subject

// Commands and queries of people and of the gateway, for API.
const (
	Open       = "open"
	Signal     = "signal"
	Answer     = "answer"
	Note       = "note" // agents leave notes too
	Override   = "override"
	Pause      = "pause"
	Resume     = "resume"
	Cancel     = "cancel"
	Retry      = "retry"
	Reopen     = "reopen"
	Resolve    = "resolve"
	Budget     = "budget"
	RaiseDay   = "raise_day"
	Migrate    = "migrate"
	Get        = "get"
	List       = "list"
	History    = "history"
	Definition = "definition"
	Watch      = "watch"
	Counts     = "counts"
	Agents     = "agents"
	Costs      = "costs"
	Health     = "health" // for people
	Explain    = "explain"
	// Attest is for agents, too.
	Attest = "attest"
	// Allowance is for the processes that use the forge.
	Allowance = "allowance"
)

// Commands of the system itself, for API: of timers, and of what links instances.
const (
	Expire = "expire"
	Wake   = "wake"
	End    = "end"
)

// Commands of agents, for Agent.
const (
	Claim     = "claim"
	Heartbeat = "heartbeat"
	Report    = "report"
	Release   = "release"
	Fail      = "fail"
	Ask       = "ask"
	Spend     = "spend"
	Inquire   = "inquire"
	Escalate  = "escalate"
	// GetObject and PutObject read and store what instances refer to. People get objects too.
	GetObject = "get_object"
	PutObject = "put_object"
	// Batch is several of them in one message.
	Batch = "batch"
)

// Commands returns the commands that the orchestrator takes on API: those of people, of the gateway and
// of the system itself.
func Commands() []string {
	return []string{Open, Signal, Answer, Note, Override, Pause, Resume, Cancel, Retry, Reopen, Resolve, Budget, RaiseDay, Migrate, Expire, Wake, End}
}

// AgentCommands returns the commands that the orchestrator takes on Agent.
func AgentCommands() []string {
	return []string{Claim, Heartbeat, Report, Release, Fail, Ask, Inquire, Escalate, Note, Spend, Override}
}

const (
	// APIs is everything the orchestrator answers.
	APIs = apiPrefix + ">"

	// ActiveOrchestrator is where orchestrators ask for the active one.
	ActiveOrchestrator = "sb.orchestrator.duty"

	apiPrefix   = "sb.api."
	agentPrefix = apiPrefix + "agent."
)

// API returns the subject of a command of people or of the gateway.
func API(command string) (string, error) {
	if err := CheckName(command); err != nil {
		return "", err
	}
	return apiPrefix + command, nil
}

// ParseAPI is the inverse of API.
func ParseAPI(s string) (command string, err error) {
	t, err := cut(s, apiPrefix, 1)
	if err != nil {
		return "", err
	}
	return t[0], CheckName(t[0])
}

// Agent returns the subject on which an agent of the role gives the command.
// The role is in the subject so that permissions can hold an agent to it.
func Agent(role, command string) (string, error) {
	if err := checkNames(role, command); err != nil {
		return "", err
	}
	return agentPrefix + role + "." + command, nil
}

// ParseAgent is the inverse of Agent.
func ParseAgent(s string) (role, command string, err error) {
	t, err := cut(s, agentPrefix, 2)
	if err != nil {
		return "", "", err
	}
	return t[0], t[1], checkNames(t...)
}

// AnyAgent returns the filter of one command from agents of every role.
func AnyAgent(command string) (string, error) {
	if err := CheckName(command); err != nil {
		return "", err
	}
	return agentPrefix + "*." + command, nil
}

// AgentsOf returns the filter of every command from agents of one role.
func AgentsOf(role string) (string, error) {
	if err := CheckName(role); err != nil {
		return "", err
	}
	return agentPrefix + role + ".*", nil
}
