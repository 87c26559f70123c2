package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
)

// prdCommands has the commands about plans of stories: prd.json.
type prdCommands struct {
	Import prdImport `cmd:"" help:"Open a story for each of a plan's that has not ended; existing stories stay as they are."`
	Export prdExport `cmd:"" help:"Write the progress of the stories back to the file; no other byte changes."`
}

// planFlags has the flags of a command about one plan of stories.
type planFlags struct {
	running
	File string `arg:"" name:"file" help:"The plan, such as prd.json: \"stories\" with a status, or \"userStories\" that pass or do not."`
	Repo string `name:"repo" env:"-" required:"" placeholder:"OWNER/NAME" help:"Repository on the forge that the stories are about."`
	// Two plans for one repository may use the same ids.
	Prefix string `name:"prefix" env:"-" placeholder:"P" help:"The stories are named P/ID; by default after the repository."`
}

// Sizes in bytes. A story is an event of the log.
const (
	maxPlan  = 16 << 20
	maxStory = 64 << 10
)

// read parses the plan and checks that its stories can be names of instances.
func (c planFlags) read() (*prd.File, error) {
	if owner, name, ok := strings.Cut(c.Repo, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return nil, service.Usagef("--repo %s: want OWNER/NAME", c.Repo)
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, service.Usagef("%w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	if err == nil && len(src) > maxPlan {
		err = fmt.Errorf("%s has more than %d bytes", c.File, maxPlan)
	}
	if err != nil {
		return nil, service.Usagef("%w", err)
	}
	plan, err := prd.Parse(c.File, src)
	if err != nil {
		return nil, service.Usagef("%w", err)
	}
	for _, s := range plan.Stories {
		if err := subject.CheckInstance(c.name(s)); err != nil {
			return nil, service.Usagef("%s:%d: %w", c.File, s.Line, err)
		}
	}
	return plan, nil
}

// name returns the instance of a story. A number alone would be the name of an issue.
func (c planFlags) name(s prd.Story) string {
	prefix, id := c.Prefix, s.ID
	if prefix == "" {
		prefix = c.Repo
	}
	if strings.Trim(id, "0123456789") == "" {
		id = "story-" + id
	}
	return prefix + "/" + id
}
