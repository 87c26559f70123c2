package outbound

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/git"
)

// Commits checks each commit that head has and known have not: its files, its
// message, its author. A secret that a later commit removes is found too. It
// returns no more than maxFindings findings.
func (c *Checker) Commits(ctx context.Context, repo git.Runner, head string, known ...string) ([]Finding, error) {
	s := &commits{rules: c.rules, findings: c.findings(), git: repo}
	if err := s.list(ctx, head, known); err != nil {
		return nil, err
	}
	return s.check(ctx)
}

// check checks the listed commits.
func (s *commits) check(ctx context.Context) ([]Finding, error) {
	if n := s.rules.MaxCommits; n > 0 && len(s.all) > n {
		s.add(Finding{Rule: "size", Detail: fmt.Sprintf("%d commits, more than the %d allowed", len(s.all), n)})
		return s.order, nil
	}
	if len(s.all) == 0 {
		return nil, nil
	}
	for _, part := range []func(context.Context) error{s.forbidden, s.files, s.contents, s.merges, s.links, s.messages} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return s.order, nil
}

// maxForeign is how many commits Foreign reads.
const maxForeign = 1000

// Foreign reports whether a commit that head has and known have not is by another identity,
// or has a message that may not leave or states a trailer of Signalbox, or whether they are
// too many to read. Their files may leave in another commit. A secret in a message is no such
// case: Commits reports it.
func (c *Checker) Foreign(ctx context.Context, repo git.Runner, head string, known ...string) (bool, error) {
	s := &commits{rules: c.rules, findings: c.findings(), git: repo}
	if err := s.list(ctx, head, known); err != nil {
		return false, err
	}
	if len(s.all) > maxForeign {
		return true, nil
	}
	s.own = true
	if err := s.messages(ctx); err != nil {
		return false, err
	}
	secret := slices.ContainsFunc(s.order, func(f Finding) bool { return f.Rule == "secret" })
	return len(s.order) > 0 && !secret, nil
}

// commits is one check of commits.
type commits struct {
	*findings
	rules Rules
	git   git.Runner
	all   []commit // the oldest first
	own   bool     // they are a program's own: none may state a trailer of ours

	changed map[bool][]changed // of the merges, and of the others; see changes
}

type commit struct {
	id      string
	parents []string
}

// list lists the commits to check.
func (s *commits) list(ctx context.Context, head string, known []string) error {
	var in, out bytes.Buffer
	for _, id := range append([]string{head}, prefixed("^", known)...) {
		fmt.Fprintln(&in, id)
	}
	if err := s.git.Stream(ctx, &in, &out, "rev-list", "--reverse", "--topo-order", "--parents", "--stdin"); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		ids := strings.Fields(line)
		s.all = append(s.all, commit{ids[0], ids[1:]})
	}
	return nil
}

func prefixed(prefix string, words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = prefix + w
	}
	return all
}

// input returns the merges, or the others, for git's standard input.
func (s *commits) input(merges bool) *strings.Reader {
	var in strings.Builder
	for _, c := range s.all {
		if (len(c.parents) > 1) == merges {
			fmt.Fprintln(&in, c.id)
		}
	}
	return strings.NewReader(in.String())
}

// diff runs diff-tree over every commit that is no merge, or every one that is.
func (s *commits) diff(ctx context.Context, w io.Writer, merges bool, args ...string) error {
	in := s.input(merges)
	if in.Len() == 0 { // most changes have no merge
		return nil
	}
	with := []string{"diff-tree", "--stdin", "-r", "--root", "--no-renames"}
	if merges { // of a merge, what is of no parent
		with = append(with, "-c")
	}
	return s.git.Stream(ctx, in, w, append(with, args...)...)
}

// forbidden checks the paths. It asks for all patterns at once, and for each only
// if there is something to find.
func (s *commits) forbidden(ctx context.Context) error {
	patterns := prefixed(":(glob,icase)", s.rules.Forbidden)
	for _, merges := range []bool{false, true} {
		if any, err := s.touching(ctx, merges, patterns, ""); err != nil || !any {
			if err != nil {
				return err
			}
			continue
		}
		for i, pattern := range patterns {
			if _, err := s.touching(ctx, merges, []string{pattern}, "no change may touch "+s.rules.Forbidden[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// touching reports whether a commit touches one of the patterns. It adds what does
// as findings with the detail, unless that is empty.
func (s *commits) touching(ctx context.Context, merges bool, patterns []string, detail string) (any bool, err error) {
	if len(patterns) == 0 {
		return false, nil
	}
	var out bytes.Buffer
	if err := s.diff(ctx, &out, merges, append([]string{"-z", "--name-only", "--"}, patterns...)...); err != nil {
		return false, err
	}
	at := ""
	for _, name := range splitZ(out.String()) {
		if s.has(name) {
			at = name
			continue
		}
		if any = true; detail != "" {
			s.add(Finding{Rule: "forbidden", Commit: at, Path: name, Detail: detail})
		}
	}
	return any, nil
}

// has reports whether the name is that of a commit. No file can have it: the commit
// would be another then.
func (s *commits) has(id string) bool {
	return commitLine.MatchString(id) && slices.ContainsFunc(s.all, func(c commit) bool { return c.id == id })
}

// changed is a file that a commit adds or changes.
type changed struct{ commit, mode, id, name string }

// changes lists the files that the commits add or change, not what they delete. Git lists them
// once.
func (s *commits) changes(ctx context.Context, merges bool) (all []changed, err error) {
	if all, ok := s.changed[merges]; ok {
		return all, nil
	}
	defer func() {
		if err == nil {
			if s.changed == nil {
				s.changed = map[bool][]changed{}
			}
			s.changed[merges] = all
		}
	}()
	var out bytes.Buffer
	if err := s.diff(ctx, &out, merges, "-z", "--raw", "--no-abbrev"); err != nil {
		return nil, err
	}
	at := ""
	entries := splitZ(out.String())
	for i := 0; i < len(entries); i++ {
		if commitLine.MatchString(entries[i]) {
			at = entries[i]
			continue
		}
		// A colon a parent, then the modes of each parent and the result, their ids, the status.
		parents := len(entries[i]) - len(strings.TrimLeft(entries[i], ":"))
		fields := strings.Fields(strings.TrimLeft(entries[i], ":"))
		if parents == 0 || len(fields) != 2*(parents+1)+1 || i+1 == len(entries) {
			return nil, fmt.Errorf("unexpected output of git diff-tree: %q", entries[i])
		}
		i++
		if mode := fields[parents]; mode != "000000" {
			all = append(all, changed{at, mode, fields[2*parents+1], entries[i]})
		}
	}
	return all, nil
}

// files checks the name, the mode and the size of each file that was added or changed.
func (s *commits) files(ctx context.Context) error {
	var plain []changed
	for _, merges := range []bool{false, true} {
		all, err := s.changes(ctx, merges)
		if err != nil {
			return err
		}
		for _, f := range all {
			s.name(f)
			switch f.mode {
			case "160000":
				s.add(Submodule(f.commit, f.name))
			case "100644", "100755":
				plain = append(plain, f)
			}
		}
	}
	if s.rules.MaxFile <= 0 || len(plain) == 0 {
		return nil
	}
	var ids strings.Builder
	for _, f := range plain {
		fmt.Fprintln(&ids, f.id)
	}
	var out bytes.Buffer
	if err := s.git.Stream(ctx, strings.NewReader(ids.String()), &out, "cat-file", "--batch-check=%(objectsize)"); err != nil {
		return err
	}
	for i, size := range strings.Fields(out.String()) {
		if n, err := strconv.ParseInt(size, 10, 64); err != nil || i >= len(plain) {
			return fmt.Errorf("unexpected output of git cat-file: %q", size)
		} else if n > s.rules.MaxFile {
			f := plain[i]
			s.add(Finding{Rule: "size", Commit: f.commit, Path: f.name,
				Detail: fmt.Sprintf("%d bytes, more than the %d allowed", n, s.rules.MaxFile)})
		}
	}
	return nil
}

// name checks the name of a file.
func (s *commits) name(f changed) {
	for _, found := range s.secrets.Scan(f.name) {
		s.add(Finding{Rule: "secret", Commit: f.commit, Path: path.Dir(f.name), Detail: "a name in it has " + found.What()})
	}
	if sanitize.FirstHidden(f.name) >= 0 || strings.ContainsAny(f.name, "\n\t") {
		s.add(Finding{Rule: "name", Commit: f.commit, Path: sanitize.TerminalLine(f.name), Detail: "its name has characters that do not show"})
	}
	if slices.ContainsFunc(strings.FieldsFunc(f.name, func(r rune) bool { return r == '/' || r == '\\' }), dotGit) {
		s.add(Submodule(f.commit, f.name))
	}
}

// dotGit reports whether a file system takes a name for .git. Some ignore case, characters that do not
// show, dots and blanks at the end, and what follows a colon; some have short names.
func dotGit(part string) bool {
	part = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return unicode.ToLower(r)
	}, part)
	part, _, _ = strings.Cut(part, ":")
	part = strings.TrimRight(part, ". ")
	return part == ".git" || part == "git~1"
}

// Submodule returns the finding of a repository within the repository.
func Submodule(commit, name string) Finding {
	return Finding{Rule: "submodule", Commit: commit, Path: name, Detail: "a repository within the repository: its files would be lost"}
}

// contents checks the lines that commits add which are no merges.
func (s *commits) contents(ctx context.Context) error {
	// --text: a .gitattributes file that says "binary" would hide lines.
	args := []string{"-p", "-U0", "--text", "--no-ext-diff", "--no-textconv", "--", "."}
	for _, pattern := range s.rules.SecretsAllowed {
		args = append(args, ":(glob,icase,exclude)"+pattern)
	}
	scan := &patchScanner{secrets: s.secrets, report: s.add}
	if err := s.diff(ctx, scan, false, args...); err != nil {
		return err
	}
	scan.flush()
	return nil
}

// merges checks the files that a merge has from none of its parents, whole.
func (s *commits) merges(ctx context.Context) error {
	all, err := s.changes(ctx, true)
	if err != nil {
		return err
	}
	for _, f := range all {
		if f.mode == "160000" {
			continue
		}
		text, err := s.git.Output(ctx, git.MaxOutput, "cat-file", "blob", f.id)
		if err != nil {
			return err
		}
		scan := &patchScanner{secrets: s.secrets, report: s.add, commit: f.commit, path: f.name, line: 1}
		scan.add(text)
		scan.flush()
	}
	return nil
}

// maxMessage is how long a commit's message may be, in bytes.
const maxMessage = 16 << 10

// messages checks the commits themselves: author, committer, message.
func (s *commits) messages(ctx context.Context) error {
	for _, c := range s.all {
		raw, err := s.git.Output(ctx, git.MaxOutput, "cat-file", "commit", c.id)
		if err != nil {
			return err
		}
		header, message, _ := strings.Cut(string(raw), "\n\n")
		s.header(c.id, header)
		s.message(c.id, message)
	}
	return nil
}

// header checks the headers of a commit.
func (s *commits) header(id, header string) {
	for line := range strings.SplitSeq(header, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree", "parent":
		case "author", "committer":
			who := value
			if end := strings.LastIndex(who, ">"); end >= 0 {
				who = who[:end+1]
			}
			if want := s.rules.Identity; want != (Identity{}) && who != want.String() && who != DefaultIdentity().String() {
				s.add(Finding{Rule: "identity", Commit: id, Detail: fmt.Sprintf("the %s is not %s", key, want)})
			}
			s.secret(id, value, "its "+key)
		default:
			s.add(Finding{Rule: "message", Commit: id, Detail: "it has a header that is not for people to see, such as a signature"})
		}
	}
}

// message checks what a commit says. Bots read no commits, so a line may be a command.
func (s *commits) message(id, text string) {
	s.secret(id, text, "its message")
	say := func(detail string) { s.add(Finding{Rule: "message", Commit: id, Detail: "its message: " + detail}) }
	if len(text) > maxMessage {
		say(fmt.Sprintf("it is longer than %d bytes", maxMessage))
		return
	}
	text = sanitize.WithoutFormer(text)
	if sanitize.FirstHidden(text) >= 0 {
		say("it has characters that do not show")
	}
	for _, l := range sanitize.LivePlain(text) {
		if l.Rule != "command" {
			say(l.Says())
		}
	}
	if s.own && StatesTrailer(text) {
		say("it states a trailer of Signalbox")
	}
}

func (s *commits) secret(id, text, what string) {
	for _, f := range s.secrets.ScanText(text) {
		s.add(Finding{Rule: "secret", Commit: id, Detail: what + " has " + f.What()})
	}
}

func splitZ(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\x00"), "\x00")
}

// roots returns the commits without a parent: of a history that is not the repository's.
func (s *commits) roots() []commit {
	return slices.DeleteFunc(slices.Clone(s.all), func(c commit) bool { return len(c.parents) > 0 })
}
