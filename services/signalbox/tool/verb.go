// Package tool offers commands of the command line to people's assistants: as tools and
// resources of the Model Context Protocol. A tool is a call of its command, so that it
// has the command's checks, its refusals and the permissions of who runs it.
package tool

// verb is a command that assistants may call.
type verb struct {
	command  string // its words
	changes  bool   // it changes something: it is offered if the operator says so
	destroys bool   // and what it ends is not simply taken up again
	json     bool   // its result is JSON, one object a line; else it is text for people
	fixed    string // a flag that each call has
	stdin    string // the argument that it reads from standard input; empty: none
	document string // the resource that its result is, too; empty: none
	own      bool   // what it prints was written by the operator alone
}

// name returns the name of the tool.
func (v verb) name() string { return underscores.Replace(v.command) }

// flags returns the flags that each call has.
func (v verb) flags() (all []string) {
	if v.fixed != "" {
		all = append(all, v.fixed)
	}
	if v.json {
		all = append(all, "--json")
	}
	return all
}

// verbs are all commands that assistants may call, those that read first.
func verbs() []verb {
	return []verb{
		{command: "ls", json: true, document: "instances"},
		{command: "show", json: true, document: "instance"},
		{command: "explain", json: true},
		{command: "history", json: true, document: "history"},
		{command: "logs", document: "log"},
		{command: "diff", document: "diff"},
		{command: "costs", json: true},
		{command: "learn ls", json: true},
		{command: "definition ls", json: true, fixed: "--running", document: "lifecycles", own: true},
		{command: "definition show", fixed: "--running", document: "lifecycle", own: true},

		{command: "open", changes: true, stdin: "report"},
		{command: "answer", changes: true},
		{command: "approve", changes: true},
		{command: "signal", changes: true},
		{command: "note", changes: true},
		{command: "budget", changes: true},
		{command: "pause", changes: true},
		{command: "resume", changes: true},
		{command: "retry", changes: true},
		{command: "reopen", changes: true},
		{command: "cancel", changes: true, destroys: true},
		{command: "override", changes: true, destroys: true},
	}
}
