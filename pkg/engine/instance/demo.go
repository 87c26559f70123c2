package instance

// Demo is the demonstration of a change: a command of the repository, run on the base and on the
// change. People look at it; no decision reads it.
type Demo struct {
	Command string  `json:"command"`
	Page    string  `json:"page,omitempty"` // that pictures are made of, such as /login; empty: none is asked for
	Base    DemoRun `json:"base"`
	Change  DemoRun `json:"change"`
}

// DemoRun is a run of a demonstration on one commit.
type DemoRun struct {
	Commit    string    `json:"commit"`
	Ended     string    `json:"ended"`                // how, for people: "exit code 1"
	Output    string    `json:"output"`               // its beginning and its end
	Whole     *Artifact `json:"whole,omitempty"`      // all of the output that was kept; null: it printed nothing
	Picture   *Artifact `json:"picture,omitempty"`    // of the page, as PNG
	NoPicture string    `json:"no_picture,omitempty"` // why there is none, although one is asked for
}

// Map returns the demonstration with each of its texts replaced.
func (d Demo) Map(f func(string) string) Demo {
	d.Command, d.Page = f(d.Command), f(d.Page)
	for _, run := range []*DemoRun{&d.Base, &d.Change} {
		run.Ended, run.Output, run.NoPicture = f(run.Ended), f(run.Output), f(run.NoPicture)
	}
	return d
}

// Artifacts lists what both runs left in the object store.
func (d Demo) Artifacts() (all []Artifact) {
	for _, a := range []*Artifact{d.Base.Whole, d.Change.Whole, d.Base.Picture, d.Change.Picture} {
		if a != nil {
			all = append(all, *a)
		}
	}
	return all
}
