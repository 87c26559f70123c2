package cli

import (
	"github.com/signalbox/signalbox/services/signalbox/command"
	"github.com/signalbox/signalbox/services/signalbox/demo"
	"github.com/signalbox/signalbox/services/signalbox/handin"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
	"github.com/signalbox/signalbox/services/signalbox/serve"
	"github.com/signalbox/signalbox/services/signalbox/verify"
)

// grammar has all commands and the flags that all of them have.
type grammar struct {
	command.Flags

	Demo     demo.Command    `cmd:"" group:"Here" help:"Show the whole job: a vague report becomes a pull request whose tests pass."`
	Resolve  resolve.Command `cmd:"" group:"Here" help:"Take one issue of a local repository from report to branch."`
	Pipeline struct {
		Run    resolve.Command `cmd:"" set:"workflow=pipeline" help:"Take one issue of a local repository through the pipeline, as a step of a CI job does: triage, analyst, writer, build, reviewer, committer."`
		Check  handin.Check    `cmd:"" help:"Check what such a run has left, before another job pushes it: its branch, its commits, its words."`
		Reason handin.Reason   `cmd:"" help:"Print a comment with the reason why such a run has left nothing to push."`
	} `cmd:"" group:"Here" help:"The pipeline lifecycle."`
	Init  initCommand   `cmd:"" group:"Here" help:"Write a .signalbox.yaml to adjust how a repository is tested, from what is found in it."`
	Up    upCommand     `cmd:"" group:"Here" help:"Run everything in this process, until interrupted."`
	Agent serve.Command `cmd:"" group:"Here" help:"Serve one role of any lifecycle, until interrupted."`
	Eval  evalCommand   `cmd:"" group:"Here" passthrough:"" help:"Run signalbox-eval, if it is installed: it measures which brain solves more of your issues."`
	Bench benchCommand  `cmd:"" group:"Here" passthrough:"" help:"Run signalbox-bench, if it is installed: it measures the engine, against raw JetStream."`

	Open     openCommand      `cmd:"" group:"Running" help:"Open an instance for a report and print its id."`
	Ls       lsCommand        `cmd:"" group:"Running" help:"List instances: state, owner, who works on it, for how long."`
	Show     showCommand      `cmd:"" group:"Running" help:"Show where an instance is, and everything known of it."`
	At       atCommand        `cmd:"" group:"Running" help:"Show where an instance was, and everything known of it then."`
	History  historyCommand   `cmd:"" group:"Running" help:"Show how an instance came there: one line an event."`
	Replay   replayingCommand `cmd:"" group:"Running" help:"Print the events of an instance with the pauses that were between them."`
	Logs     logsCommand      `cmd:"" group:"Running" help:"Print the logs of the steps: prompts and output of brains, output of checks."`
	Diff     diffCommand      `cmd:"" group:"Running" help:"Print the change to the code that an instance has made."`
	Costs    costsCommand     `cmd:"" group:"Running" help:"Say what the work cost, by repository, role, brain, state, day or instance."`
	Health   healthCommand    `cmd:"" group:"Running" help:"Say how the system is: its log, orchestrators, NATS, timers, dead letters, limits of the forge."`
	State    stateCommand     `cmd:"" group:"Running" help:"Print the document that the roles of the pipeline lifecycle share."`
	Watch    watchCommand     `cmd:"" group:"Running" help:"Follow what happens, live; until the instance ends."`
	Console  consoleGroup     `cmd:"" group:"Running" help:"Serve pages that show what is where and why, and that you answer on, until interrupted."`
	Explain  explainCommand   `cmd:"" group:"Running" help:"Say why an instance does not move, and what would move it."`
	Answer   answerCommand    `cmd:"" group:"Running" help:"Answer the questions an instance waits with."`
	Approve  approveCommand   `cmd:"" group:"Running" help:"Say yes to what an instance waits with, where its lifecycle asks for that."`
	Signal   signalCommand    `cmd:"" group:"Running" help:"Tell an instance what happened outside, by the name its lifecycle listens to."`
	Budget   budgetCommand    `cmd:"" group:"Running" help:"Let an instance cost more than its lifecycle's policy permits, or a day more than its budgets."`
	Pause    pauseCommand     `cmd:"" group:"Running" help:"Keep an instance's work from being given out."`
	Resume   resumeCommand    `cmd:"" group:"Running" help:"Let a paused instance go on."`
	Cancel   cancelCommand    `cmd:"" group:"Running" help:"Close an instance where it stands."`
	Retry    retryCommand     `cmd:"" group:"Running" help:"Give the owner the work once more."`
	Dead     deadCommands     `cmd:"" group:"Running" help:"Dead letters: work that was given up on."`
	Reopen   reopenCommand    `cmd:"" group:"Running" help:"Start an instance again that has ended, on the code that it left."`
	Override overrideCommand  `cmd:"" group:"Running" help:"Move an instance to any state, whatever the table permits."`
	Note     noteCommand      `cmd:"" group:"Running" help:"Keep a remark with an instance."`

	Learn learnCommands `cmd:"" group:"Running" help:"List, add and judge learnings: facts about a repository, for the next work on it."`

	Plan planCommands `cmd:"" group:"Running" help:"Plans: files of tasks."`
	Prd  prdCommands  `cmd:"" group:"Running" help:"Plans: files of stories, prd.json."`

	Mcp mcpCommand `cmd:"" group:"Running" help:"Offer these commands to an assistant, as tools of the Model Context Protocol: over standard input and output, or over HTTP."`

	Github githubCommands `cmd:"" group:"Running" help:"The forge: the App that Signalbox works as, and the deliveries of webhooks."`

	Audit   auditCommand   `cmd:"" group:"The log" help:"Read a log from its beginning to its end and name everything in it that must not be."`
	Export  exportCommand  `cmd:"" group:"The log" help:"Print each event of a log on a line, for other programs."`
	Attest  attestCommand  `cmd:"" group:"The log" help:"Sign a statement on the newest commit of an instance: its steps, tests and approvals."`
	Verify  verify.Command `cmd:"" group:"The log" help:"Verify such a statement of a commit, with its public key alone."`
	Whatif  whatifCommand  `cmd:"" group:"The log" help:"Decide a log again under another policy or definition, and show which instances would have gone elsewhere."`
	Backup  backupCommand  `cmd:"" group:"The log" help:"Write the log, and what goes with it, to a directory, or add to it what came since."`
	Restore restoreCommand `cmd:"" group:"The log" help:"Make the log, and what goes with it, from a backup."`

	Erase eraseCommand `cmd:"" group:"The log" help:"Write a backup again without the texts of a person or of an instance."`

	Definition definitionCommand `cmd:"" group:"Lifecycles" help:"Lifecycles as data: list, show, export, verify, draw and compare them."`

	Configuration configGroup `cmd:"" name:"config" group:"Lifecycles" help:"The configuration of a repository, .signalbox/config.yaml."`

	Brain  brainCommand  `cmd:"" group:"Lifecycles" help:"The coding agents that brains are made of: list the presets, and print one."`
	Prompt promptCommand `cmd:"" group:"Lifecycles" help:"List prompts, and print one as a brain would get it."`

	Auth       authCommand       `cmd:"" group:"This program" help:"Keys and accounts of services and people for NATS."`
	Doctor     doctorCommand     `cmd:"" group:"This program" help:"Check what is needed, and say what to do about what is missing."`
	Clean      cleanCommand      `cmd:"" group:"This program" help:"Remove work trees, caches and logs of resolve that were not used for long."`
	Help       helpCommand       `cmd:"" group:"This program" help:"Help on a command, or on the flags that all have: help COMMAND, help flags."`
	Version    versionCommand    `cmd:"" group:"This program" help:"Say what this binary was built from."`
	Look       hereCommand       `cmd:"" hidden:"" help:"Print what Signalbox would do in this repository, and the command to try."`
	Complete   completeCommand   `cmd:"" hidden:"" passthrough:"" help:"Print what the last word of a command line may become."`
	Completion completionCommand `cmd:"" group:"This program" help:"Print a script that completes commands for a shell."`
}

// examples has calls of each command, without the program's name. A test parses them.
func examples() map[string][]string {
	return map[string][]string{
		"demo": {"demo", "demo --data ./demo"},
		"resolve": {"resolve --issue bug.md --brain developer=exec:./fix.sh",
			"resolve --repo . --issue bug.md --brain developer=exec:claude --brain tester.creating_tests=exec:claude"},
		"pipeline run":    {"pipeline run --repo . --issue bug.md", "pipeline run --repo . --issue bug.md --brain writer=exec:./fix.sh"},
		"pipeline check":  {"pipeline check --from left --issue 42 --base main", "pipeline check --repo . --from left --issue 42 --base main --json"},
		"pipeline reason": {"pipeline reason left/issue-state.json", "pipeline reason left/issue-state.json --page https://ci.example.test/runs/7"},
		"init":            {"init", "init --repo . --print"},
		"up":              {"up --repo local/greet=.", "up --repo local/greet=. --brain developer=exec:./fix.sh"},
		"agent":           {"agent --role tester", "agent --role writer --brain exec:./write.sh"},
		"eval": {"eval mine --repo . --since \"6 months ago\" --most 30 --out cases",
			"eval run --cases cases --brain exec:claude --brain exec:codex --out eval"},
		"bench":         {"bench --quick", "bench --scenario throughput,handoff --repeats 3"},
		"open":          {"open issue --file bug.md --repo acme/widgets", "open task --title \"Parse empty input\" --repo acme/widgets"},
		"ls":            {"ls", "ls --all"},
		"show":          {"show acme/widgets/42", "show acme/widgets/42 --json"},
		"at":            {"at acme/widgets/42 --seq 117", "at acme/widgets/42 --time 2026-11-20T09:00:00Z"},
		"history":       {"history acme/widgets/42", "history acme/widgets/42 --json"},
		"logs":          {"logs acme/widgets/42 --state implementing", "logs acme/widgets/42 --state fixing_issues --attempt 2"},
		"replay":        {"replay acme/widgets/42", "replay acme/widgets/42 --speed 600", "replay acme/widgets/42 --speed 0"},
		"diff":          {"diff acme/widgets/42", "diff acme/widgets/42 --attempt 1", "diff acme/widgets/42 --from 117 --to 131"},
		"state":         {"state acme/widgets/42", "state acme/widgets/42 --data .signalbox"},
		"watch":         {"watch acme/widgets/42", "watch acme/widgets/42 --exit-status", "watch"},
		"console serve": {"console serve", "console serve --listen 127.0.0.1:8080"},
		"console login": {"console login", "console login --json"},
		"explain":       {"explain acme/widgets/42", "explain acme/widgets/42 --seq 117"},
		"answer":        {"answer acme/widgets/42 \"Only version 2\"", "answer acme/widgets/42 --file answer.md"},
		"budget":        {"budget acme/widgets/42 +5usd", "budget acme/widgets/42 +200000tokens", "budget acme/widgets/42 +5usd --day"},
		"health":        {"health", "health --json"},
		"costs":         {"costs", "costs --by role --within 24h"},
		"github replay": {"github replay 72d3162e-cc78-11e3-81ab-4c9367dc0958", "github replay 72d3162e-cc78-11e3-81ab-4c9367dc0958 --timeout 30s"},
		"approve":       {"approve acme/widgets/42", "approve acme/widgets/42 --timeout 30s"},
		"signal":        {"signal acme/widgets/42 changed", "signal acme/widgets/42 commented body=\"It is fixed\""},
		"pause":         {"pause acme/widgets/42", "pause acme/widgets/42 --reason \"release week\""},
		"resume":        {"resume acme/widgets/42", "resume acme/widgets/42 --reason \"released\""},
		"cancel":        {"cancel acme/widgets/42", "cancel acme/widgets/42 --reason duplicate"},
		"retry":         {"retry acme/widgets/42", "retry acme/widgets/42 --reason \"the network is back\""},
		"dead ls":       {"dead ls", "dead ls --json"},
		"dead show":     {"dead show 7", "dead show 7 --json"},
		"dead retry":    {"dead retry 7", "dead retry 7 --reason \"the network is back\""},
		"dead drop":     {"dead drop 7 --reason \"done by hand\"", "dead drop 7 -r duplicate"},
		"reopen":        {"reopen acme/widgets/42 --reason \"the brain is mended\"", "reopen acme/widgets/42 --to implementing"},
		"override": {"override acme/widgets/42 --to implementing --reason \"the plan is right\"",
			"override acme/widgets/42 --to failed --reason \"not worth it\""},
		"note":          {"note acme/widgets/42 \"See also 17\"", "note acme/widgets/42 --kind learning \"The parser is generated\""},
		"learn ls":      {"learn ls", "learn ls --repo acme/widgets --path pkg/api --all"},
		"learn add":     {"learn add --repo acme/widgets \"The tests need TZ=UTC\"", "learn add --repo acme/widgets --path pkg/api \"Handlers are generated from api.yaml\""},
		"learn confirm": {"learn confirm 1f2e3d4c", "learn confirm 1f2e3d4c --repo acme/widgets"},
		"learn rm":      {"learn rm 1f2e3d4c", "learn rm 1f2e3d4c --repo acme/widgets"},
		"plan import":   {"plan import plan.md", "plan import plan.yaml --repo acme/widgets"},
		"prd import":    {"prd import --repo acme/widgets prd.json", "prd import --repo acme/widgets plans/prd.json"},
		"prd export":    {"prd export --repo acme/widgets prd.json", "prd export --repo acme/widgets plans/prd.json"},
		"mcp":           {"mcp", "mcp --write", "mcp --listen 127.0.0.1:7331 --listen-token-file token"},
		"github setup": {"github setup --org acme --webhook-url https://signalbox.example.com/hooks",
			"github setup --forge-host github.example.com --open"},
		"audit":      {"audit", "audit --data .signalbox --decisions", "audit --seal seal.json --seal-key seal.key"},
		"export":     {"export --jsonl", "export --csv --data .signalbox"},
		"attest":     {"attest acme/widgets/42", "attest acme/widgets/42 --repository . --key attest.key --data .signalbox"},
		"verify":     {"verify HEAD --key attest.key.pub --require shown", "verify 5f0c2a7e9b1d4c3f8a6e7d2b9c0f1e4a3d5b6c78 --attestation change.json --key attest.key.pub"},
		"whatif":     {"whatif --policy max_iterations=3", "whatif --definition ./mine.yaml --since 30d --json"},
		"brain ls":   {"brain ls", "brain ls --presets ./presets"},
		"brain show": {"brain show claude", "brain show claude --presets ./presets"},
		"prompt ls":  {"prompt ls", "prompt ls --repo . --prompts ./prompts"},
		"prompt show": {"prompt show developer.implementing", "prompt show tester.creating_tests --instance acme/widgets/42 --repo .",
			"prompt show developer.implementing --source"},
		"config check":       {"config check .signalbox/config.yaml", "config check .signalbox/config.yaml --workflow issue --repo-workflow story"},
		"backup":             {"backup ./backup", "backup ./backup --data .signalbox", "backup ./backups --keep 14 --every 1h --rehearse"},
		"restore":            {"restore ./backup", "restore ./backup --data .signalbox"},
		"erase":              {"erase ./backup ./erased --person octocat --seal-key seal.key", "erase ./backup ./erased --instance acme/widgets/42 --seal-key seal.key"},
		"definition ls":      {"definition ls", "definition ls --workflow-dir ./lifecycles", "definition ls --running"},
		"definition show":    {"definition show issue", "definition show ./mine.yaml"},
		"definition export":  {"definition export issue", "definition export ./mine.yaml"},
		"definition verify":  {"definition verify ./mine.yaml", "definition verify --workflow-dir ./lifecycles"},
		"definition graph":   {"definition graph issue", "definition graph ./mine.yaml"},
		"definition diff":    {"definition diff issue ./mine.yaml", "definition diff issue pipeline"},
		"definition migrate": {"definition migrate acme/widgets/42", "definition migrate acme/widgets/42 --json"},
		"auth init":          {"auth init", "auth init --dir ./access --admin ada"},
		"auth add-agent":     {"auth add-agent tester", "auth add-agent designer --workflow-dir lifecycles --dir ./access"},
		"auth add-person":    {"auth add-person ann --can act", "auth add-person vera --can view --dir ./access"},
		"auth ls":            {"auth ls", "auth ls --dir ./access"},
		"auth upgrade":       {"auth upgrade", "auth upgrade --dir ./access"},
		"auth env":           {"auth env", "auth env --dir ./access"},
		"auth revoke":        {"auth revoke ann", "auth revoke agent-designer"},
		"auth rotate":        {"auth rotate developer", "auth rotate developer --finish"},
		"doctor":             {"doctor", "doctor --brain developer=exec:./fix.sh --json", "doctor --brain-trial claude", "doctor --forge-url https://api.github.com/ --repo acme/widgets"},
		"clean":              {"clean --dry-run", "clean --older-than 7d"},
		"version":            {"version", "version --json"},
		"completion":         {"completion bash", "completion fish"},
		"help":               {"help flags", "help show"},
	}
}
