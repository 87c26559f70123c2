package eval

import (
	"bytes"
	_ "embed"
	"html/template"
	"time"
)

//go:embed page.html
var pageText string

// page returns the table as a page that needs no other file.
func (t table) page(now time.Time) ([]byte, error) {
	type row struct {
		Case
		Runs [][]Run // by brain
	}
	data := struct {
		table
		Brains []string
		Rows   []row
		At     string
	}{table: t, Brains: t.brains, At: now.UTC().Format("2006-01-02 15:04 UTC")}
	for _, c := range t.cases {
		r := row{Case: c}
		for _, brain := range t.brains {
			var runs []Run
			for _, run := range t.Runs {
				if run.Case == c.ID && run.Brain == brain {
					runs = append(runs, run)
				}
			}
			r.Runs = append(r.Runs, runs)
		}
		data.Rows = append(data.Rows, r)
	}
	text, err := template.New("page").Funcs(template.FuncMap{"how": Run.how}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = text.Execute(&page, data)
	return page.Bytes(), err
}
