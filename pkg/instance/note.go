package instance

// Note records a remark.
type Note struct {
	Kind string
	Text string
}

// Noted records a remark.
type Noted struct {
	Author string
	Kind   string
	Text   string
}

func (e Noted) apply(in *Instance, c Commit) {
	in.Notes = appended(in.Notes, NoteEntry{e.Author, e.Kind, e.Text, c.At})
}

func (a Note) decide(d *decision) error {
	d.record(Noted{d.cmd.Actor, a.Kind, a.Text})
	return nil
}
