package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// learn is a note about learnings, by a party. A role's agent gives it as such.
func learn(ctx context.Context, c *client.Client, p access.Party, id, kind, text string, l *pb.Learning) error {
	cmd := &pb.Command{Instance: id, Actor: "a-1", Action: &pb.Command_Note{Note: &pb.Note{Kind: kind, Text: text, Learning: l}}}
	var err error
	if p.Kind == access.Agent {
		_, err = c.DoAs(ctx, p.Name, subject.Note, cmd)
	} else {
		_, err = c.Do(ctx, subject.Note, cmd)
	}
	return err
}

func TestWhoMayLearnConfirmAndRemove(t *testing.T) {
	e, as := withAccounts(t)
	clients := map[access.Party]*client.Client{}
	for _, p := range []access.Party{gateway, pm, developer, vera, ann} {
		clients[p] = client.New(as(p), "")
	}
	const record, issue, strange = "acme/widgets/learnings", "acme/widgets/1", "acme/widgets/2"
	for id, permission := range map[string]string{issue: "write", strange: "read"} {
		in := instance.Issue{Repo: "acme/widgets", Number: 1, Title: "t", Body: "b", Permission: permission}
		if _, err := clients[ann].Open(e.Context(), "", "issue", id, in); err != nil {
			t.Fatal(err)
		}
		got, err := clients[ann].Get(e.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := clients[pm].DoAs(e.Context(), "pm", subject.Claim, &pb.Command{Instance: id, Action: &pb.Command_Claim{
			Claim: &pb.Claim{Agent: "a-1", Work: got.GetWork(), LeaseMs: 60_000}}}); err != nil {
			t.Fatal(err)
		}
	}
	first := learning.ID("", "A fact.")
	for _, step := range []struct {
		name   string
		party  access.Party
		id     string
		kind   string
		text   string
		l      *pb.Learning
		wants  string // of the refusal; empty: none
		listed string // afterwards
	}{
		{"a person confirms what there is not", ann, record, learning.Confirmed, "", &pb.Learning{Ids: []string{first}}, "acme/widgets has no learning", ""},
		{"a viewer adds", vera, record, learning.Noted, "A fact.", nil, "view-vera may not note", ""},
		{"the gateway adds", gateway, record, learning.Noted, "A fact.", nil, "deadline", ""},
		{"an agent adds to the record", pm, record, learning.Noted, "A fact.", nil, "people add, confirm and remove", ""},
		{"an agent learns", pm, issue, learning.Noted, "A fact.", nil, "", "A fact. proposed trusted"},
		{"an agent confirms", pm, record, learning.Confirmed, "", &pb.Learning{Ids: []string{first}}, "people add, confirm and remove", "A fact. proposed trusted"},
		{"an agent confirms with its instance", pm, issue, learning.Confirmed, "", &pb.Learning{Ids: []string{first}}, "is for the instance that keeps", "A fact. proposed trusted"},
		{"a viewer confirms", vera, record, learning.Confirmed, "", &pb.Learning{Ids: []string{first}}, "view-vera may not note", "A fact. proposed trusted"},
		{"a person confirms", ann, record, learning.Confirmed, "", &pb.Learning{Ids: []string{first}}, "", "A fact. confirmed trusted"},
		{"a person means another one", ann, record, learning.Dropped, "", &pb.Learning{Ids: []string{first[:7] + "x"}}, "did you mean " + first, "A fact. confirmed trusted"},
		{"a person means none", ann, record, learning.Dropped, "", nil, "want those of the learnings", "A fact. confirmed trusted"},
		{"a person removes", ann, record, learning.Dropped, "", &pb.Learning{Ids: []string{first}}, "", "A fact. removed trusted"},
		{"a person confirms what was removed", ann, record, learning.Confirmed, "", &pb.Learning{Ids: []string{first}},
			`was removed, and a confirmation does not bring it back: signalbox learn add --repo acme/widgets "A fact." does`, "A fact. removed trusted"},
		{"an agent learns it again", pm, issue, learning.Noted, "a fact", nil, "", "A fact. removed trusted"},
		{"an agent that does not work on it", developer, issue, learning.Noted, "Other.", &pb.Learning{Trusted: true}, "", "Other. proposed, A fact. removed trusted"},
		{"an agent learns from a stranger", pm, strange, learning.Noted, "Strange.", &pb.Learning{Trusted: true}, "", "Strange. proposed, Other. proposed, A fact. removed trusted"},
		{"an agent tells a credential", pm, issue, learning.Noted, "Use " + secrettest.Corpus(t)["GitHub token, classic"] + " there", &pb.Learning{}, "nothing secret is kept", "Strange. proposed, Other. proposed, A fact. removed trusted"},
		{"an agent tells nothing", pm, issue, learning.Noted, " ", &pb.Learning{}, "its text is empty", "Strange. proposed, Other. proposed, A fact. removed trusted"},
		{"a person notes that an instance used one", ann, issue, learning.Used, "", &pb.Learning{Ids: []string{first}}, "only the agent that works on", "Strange. proposed, Other. proposed, A fact. removed trusted"},
		{"an agent that does not work on it used one", developer, issue, learning.Used, "", &pb.Learning{Ids: []string{first}}, "only the agent that works on", "Strange. proposed, Other. proposed, A fact. removed trusted"},
		{"an agent used one", pm, strange, learning.Used, "", &pb.Learning{Instance: issue, Ids: []string{learning.ID("", "Other."), "no"}}, "", "Strange. proposed, Other. proposed by acme/widgets/2, A fact. removed trusted"},
	} {
		ctx, cancel := context.WithTimeout(e.Context(), unheard)
		if step.wants == "deadline" {
			ctx, cancel = context.WithTimeout(e.Context(), 300*time.Millisecond)
		}
		err := learn(ctx, clients[step.party], step.party, step.id, step.kind, step.text, step.l)
		cancel()
		if step.wants == "" && err != nil || step.wants != "" && (err == nil || !strings.Contains(err.Error(), step.wants)) {
			t.Errorf("%s: %v, want %q", step.name, err, step.wants)
		}
		all, err := clients[vera].Learnings(e.Context(), "acme/widgets")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range all {
			said := l.Text + " " + string(l.State)
			if l.Trusted {
				said += " trusted"
			}
			if len(l.Used) > 0 {
				said += " by " + strings.Join(l.Used, " ")
			}
			got = append(got, said)
		}
		if s := strings.Join(got, ", "); s != step.listed {
			t.Errorf("%s: then there is %q, want %q", step.name, s, step.listed)
		}
	}
}

func TestALearningThatIsSentAgainIsKeptOnce(t *testing.T) {
	e := newEnv(t, nil)
	if _, err := e.client.Open(e.Context(), "", "issue", "acme/widgets/1", instance.Issue{Repo: "acme/widgets", Title: "t"}); err != nil {
		t.Fatal(err)
	}
	send := func() {
		t.Helper()
		cmd := &pb.Command{Id: "same", Instance: "acme/widgets/1", Action: &pb.Command_Note{Note: &pb.Note{Kind: learning.Noted, Text: "A fact."}}}
		if _, err := e.client.Do(e.Context(), subject.Note, cmd); err != nil {
			t.Fatal(err)
		}
	}
	send()
	e.unchanged(send)
	all, err := e.client.Learnings(e.Context(), "acme/widgets")
	if err != nil || len(all) != 1 || all[0].State != learning.StateProposed {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAnotherInstanceOfTheRecordsNameIsNoRecord(t *testing.T) {
	e := newEnv(t, nil)
	e.open("acme/widgets/learnings")
	err := learn(e.Context(), e.client, access.Party{}, "acme/widgets/learnings", learning.Noted, "A fact.", nil)
	if err == nil || !strings.Contains(err.Error(), "an instance of issue has the name") {
		t.Error(err)
	}
}

func TestOnlySoManyProposalsOfARepositoryAreKept(t *testing.T) {
	e := newEnv(t, nil)
	if _, err := e.client.Open(e.Context(), "", "issue", "acme/widgets/1", instance.Issue{Repo: "acme/widgets", Title: "t"}); err != nil {
		t.Fatal(err)
	}
	note := func(text string) {
		t.Helper()
		if err := learn(e.Context(), e.client, pm, "acme/widgets/1", learning.Noted, text, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range learning.MaxKept + 5 {
		note(fmt.Sprint("fact ", i))
	}
	note(strings.Repeat("long ", 200)) // a remark that is no learning
	all, err := e.client.Learnings(e.Context(), "acme/widgets")
	if err != nil || len(all) != learning.MaxKept {
		t.Errorf("%d are kept, %v", len(all), err)
	}
	in, err := e.client.Get(e.Context(), "acme/widgets/1")
	if err != nil || len(in.GetNotes()) != learning.MaxKept+6 {
		t.Errorf("the instance has %d notes, %v", len(in.GetNotes()), err)
	}
}

func TestWhereThePolicyIsNoneNothingIsKept(t *testing.T) {
	def, err := workflow.Load("silent.yaml", []byte("workflow: silent\nversion: 1\nextends: issue\npolicy: {learnings: none}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, nil, def)
	if _, err := e.client.Open(e.Context(), "", "silent", "acme/widgets/1", instance.Issue{Repo: "acme/widgets", Title: "t", Permission: "write"}); err != nil {
		t.Fatal(err)
	}
	if err := learn(e.Context(), e.client, pm, "acme/widgets/1", learning.Noted, "A fact.", &pb.Learning{}); err != nil {
		t.Fatal(err)
	}
	if all, err := e.client.Learnings(e.Context(), "acme/widgets"); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
