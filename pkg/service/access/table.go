package access

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// queries are the requests that change nothing and that all may make. Watch and health are for people, and for
// the orchestrator's own account.
var queries = []string{subject.Get, subject.List, subject.History, subject.Definition, subject.Counts, subject.Agents,
	subject.Costs}

// may has the commands on sb.api of each kind, queries apart. Agents give theirs on
// sb.api.agent.ROLE.
var may = map[Kind][]string{
	// Cancel and reopen are for issues that are closed, and opened again, pause and resume for those that a
	// label holds. All but open are for what people command in comments.
	Gateway: {subject.Open, subject.Signal, subject.Cancel, subject.Reopen, subject.Pause, subject.Resume, subject.Retry,
		subject.Resolve, subject.Budget},
	Act: {subject.Open, subject.Signal, subject.Answer, subject.Note, subject.Pause, subject.Resume, subject.Cancel, subject.Retry,
		subject.Reopen, subject.Resolve, subject.Budget},
	// The operator sets the cost of a day.
	Admin: {subject.Override, subject.Migrate, subject.RaiseDay},
}

// forgeRoles lists the roles whose agents use the forge. pkg/testkit/archtest has the services.
var forgeRoles = []string{Notifier, "committer", "git-manager", "shepherd"}

// UsesForge reports whether the party holds the forge's credentials.
func (p Party) UsesForge() bool {
	return p.Kind == Gateway || p.Kind == Agent && slices.Contains(forgeRoles, p.Name)
}

// May reports whether a party may give a command or query on sb.api. Admin may all that
// Act may. Expire, wake and end come from the orchestrator itself.
func (p Party) May(command string) bool {
	switch {
	case p.Kind == Orchestrator || p.Kind == PlanManager:
		return true
	case command == subject.Watch || command == subject.Health:
		return p.Person() || p.Kind == Console
	case command == subject.Allowance:
		return p.UsesForge()
	case !slices.Contains(subject.Commands(), command): // another query
		return true
	case p.Kind == Console: // the rights of the person that it names decide
		return mayForPeople(command)
	case p.Kind == Admin && slices.Contains(may[Act], command):
		return true
	}
	return slices.Contains(may[p.Kind], command)
}

// Who returns the kinds of parties that may give a command on sb.api.
func Who(command string) (all []string) {
	for _, k := range []Kind{Gateway, View, Act, Admin} {
		if (Party{Kind: k}).May(command) {
			all = append(all, string(k))
		}
	}
	if command == subject.Allowance {
		all = append(all, forgeRoles...)
	}
	return all
}

// APIPrefix is where accounts but System reach what they may of JetStream's API. The
// server reserves $JS.API in each account for its own JetStream.
const APIPrefix = "sbjs"

// Import is a service of System that an account imports, or what System publishes.
type Import struct {
	Subject string // in System
	Local   string // in the account; empty: the same
	From    string // the account that serves it; empty: System
	Stream  bool   // System publishes it: the account receives it, and cannot send it there
}

// Imports returns what the account of a party imports. People get all of sb.api.*: the
// orchestrator refuses what May forbids, and says why.
func (p Party) Imports() []Import {
	switch p.Kind {
	case Agent:
		all := append(p.asked(queries...), p.request("sb.api.agent."+p.Name+".*"))
		all = append(all, consumer(p.Name)...)
		if p.Name == Notifier {
			all = append(all, slices.Concat(consumer(subject.Endings), consumer(subject.Statuses))...)
		}
		if p.UsesForge() {
			all = append(all, p.forgeLimits()...)
		}
		return all
	case Gateway:
		return append(p.asked(append(slices.Clone(queries), may[Gateway]...)...), slices.Concat(cursors, deliveries(), p.forgeLimits(), []Import{postComment})...)
	case Notify:
		return append(p.asked(queries...), consumer(subject.Notifications)...)
	case Console:
		return p.asked("*")
	case View, Act:
		all := append(p.asked("*"), p.signIn())
		if p.Kind == Act {
			all = append(all, report, replay, configured)
		}
		return all
	case Admin:
		return append(p.asked("*"), p.signIn(), report, replay, configured,
			Import{Subject: "$JS.API.>", Local: APIPrefix + ".>"}, Import{Subject: "$JS.ACK.>"}, Import{Subject: "$O.>"}, Import{Subject: "$KV.>"})
	}
	return []Import{report, replay, configured}
}

// report is where the gateway takes reports for the forge, replay where it handles a
// delivery again. configured is where it says what is in force for a repository.
var (
	report     = Import{Subject: subject.OpenIssue, From: string(Gateway)}
	replay     = Import{Subject: subject.ReplayDelivery, From: string(Gateway)}
	configured = Import{Subject: subject.Configuration, From: string(Gateway)}
)

// postComment is where the PM posts what the gateway answers to people.
var postComment = Import{Subject: subject.PostComment, From: Party{Kind: Agent, Name: Notifier}.Account()}

// Notifier is the role that tells people how instances stand and end.
const Notifier = "pm"

// forgeLimits are the account of the forge's limits that all share who use it, and what the
// orchestrator says of it.
func (p Party) forgeLimits() []Import {
	return append(p.asked(subject.Allowance), Import{Subject: subject.ForgeLimits, Stream: true})
}

// asked returns the imports of commands and queries on sb.api.
func (p Party) asked(names ...string) (all []Import) {
	for _, name := range names {
		all = append(all, p.request("sb.api."+name))
	}
	return all
}

// request returns the import of requests to the orchestrator. The party makes them on local;
// they arrive on a subject that names the party's account.
func (p Party) request(local string) Import {
	s, err := subject.From(p.Account(), local)
	if err != nil {
		return Import{Local: local} // of a party that Check refuses: no server takes it
	}
	return Import{Subject: s, Local: local}
}

// consumer returns what a reader of a durable consumer of the log needs: to find it, to
// pull messages, and to acknowledge them. The second form of an acknowledgement is that
// of nats-server's flag js_ack_fc_v2.
func consumer(name string) []Import {
	return consumerOf(subject.EventStream, name)
}

func consumerOf(stream, name string) []Import {
	of := stream + "." + name
	return []Import{
		api("CONSUMER.INFO." + of), api("CONSUMER.MSG.NEXT." + of),
		{Subject: "$JS.ACK." + of + ".>"}, {Subject: "$JS.ACK.*.*." + of + ".>"},
	}
}

// api returns the import of one request of JetStream's API.
func api(request string) Import {
	return Import{Subject: "$JS.API." + request, Local: APIPrefix + "." + request}
}

// cursors are the requests of the gateway's bucket.
var cursors = []Import{
	api("STREAM.INFO.KV_signalbox-cursors"), api("DIRECT.GET.KV_signalbox-cursors"), api("DIRECT.GET.KV_signalbox-cursors.>"),
	api("STREAM.MSG.GET.KV_signalbox-cursors"), {Subject: "$KV.signalbox-cursors.>", Local: APIPrefix + ".$KV.signalbox-cursors.>"},
}

// deliveries returns the requests of the gateway about what webhooks deliver: to keep a
// delivery, to read on, and to read one again.
func deliveries() []Import {
	return append([]Import{{Subject: "sb.hook.*.*"}, api("STREAM.MSG.GET." + subject.DeliveryStream),
		api("STREAM.INFO." + subject.DeliveryStream)},
		consumerOf(subject.DeliveryStream, subject.DeliveryReader)...)
}

// mayForPeople reports whether some person may give a command.
func mayForPeople(command string) bool {
	return slices.ContainsFunc([]Kind{View, Act, Admin}, func(k Kind) bool { return Party{Kind: k}.May(command) })
}

// signIn is where a person asks the console for a link that signs in as them. The account of the person is in the
// subject that it arrives on.
func (p Party) signIn() Import {
	i := p.request(subject.SignIn)
	i.From = string(Console)
	return i
}
