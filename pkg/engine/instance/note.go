package instance

// Note records a remark.
type Note struct {
	Kind     string
	Text     string
	Learning *Learning // of notes about learnings; nil: the note is its text alone
}

// Noted records a remark.
type Noted struct {
	Author   string
	Kind     string
	Text     string
	Learning *Learning
}

// Learning has the fields of a note about learnings other than its text: see package learning.
type Learning struct {
	Path     string   // file or directory that it is about; empty: the whole repository
	Instance string   // where it was learned, or used; empty: nowhere, by a person
	Trusted  bool     // there only people spoke who may write to the repository
	IDs      []string // of those that are confirmed, removed or used
}

// apply adds the note. The instance keeps its text and the path alone:
// notes are in prompts.
func (e Noted) apply(in *Instance, c Commit) {
	text := e.Text
	if e.Learning != nil && e.Learning.Path != "" {
		text = e.Learning.Path + ": " + text
	}
	in.Notes = appended(in.Notes, NoteEntry{e.Author, e.Kind, text, c.At})
}

func (a Note) decide(d *decision) error {
	d.record(Noted{d.cmd.Actor, a.Kind, a.Text, a.Learning})
	return nil
}
