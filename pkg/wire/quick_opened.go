package wire

import (
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// opened leaves what has variables, or came from elsewhere, to protobuf.
func (q *quick) opened(data []byte) (e instance.Opened) {
	issues := 0
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			e.Workflow = q.name(f.bytes)
		case 2<<3 | text:
			e.Definition = q.name(f.bytes)
		case 3<<3 | text:
			issues++
			e.Issue = q.issue(f.bytes)
		case 4<<3 | text:
			e.Base = q.text(f.bytes)
		case 6<<3 | text:
			e.State = q.name(f.bytes)
		case 7<<3 | text:
			e.Owner = q.name(f.bytes)
		case 8<<3 | text:
			e.Kind = workflow.Kind(q.name(f.bytes))
		case 9<<3 | text:
			e.Timeout = q.span(f.bytes, e.Timeout)
		case 11<<3 | text:
			e.After = append(e.After, q.text(f.bytes))
		case 12<<3 | text:
			e.Parent = q.text(f.bytes)
		default:
			q.spoiled = true
		}
	}
	q.spoiled = q.spoiled || issues > 1
	return e
}

func (q *quick) issue(data []byte) (i instance.Issue) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			i.Repo = q.name(f.bytes)
		case 2<<3 | number:
			i.Number = int(int32(f.value))
		case 3<<3 | text:
			i.Title = q.text(f.bytes)
		case 4<<3 | text:
			i.Body = q.text(f.bytes)
		case 5<<3 | text:
			i.Labels = append(i.Labels, q.text(f.bytes))
		case 6<<3 | text:
			i.Author = q.text(f.bytes)
		case 7<<3 | text:
			i.URL = q.text(f.bytes)
		default:
			q.spoiled = true
		}
	}
	return i
}

func (q *quick) noted(data []byte) (e instance.Noted) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			e.Author = q.name(f.bytes)
		case 2<<3 | text:
			e.Kind = q.name(f.bytes)
		case 3<<3 | text:
			e.Text = q.text(f.bytes)
		default:
			q.spoiled = true
		}
	}
	return e
}
