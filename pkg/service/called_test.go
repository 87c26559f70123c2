package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

type named struct{ service.Flags }

func (*named) Setup(context.Context, *service.Host) error { return nil }

func TestTheServiceIsTheNameOfTheProgramElseTheArgumentElseTheEnvironment(t *testing.T) {
	var all []service.Main
	for _, name := range []string{"analyst", "tester", "writer", "build", "developer"} {
		all = append(all, service.Main{Name: name, Program: &named{}})
	}
	for name, c := range map[string]struct {
		argv    []string
		env     string
		service string // empty: none
		args    string
	}{
		"called by its name":                      {[]string{"/usr/bin/analyst", "--workers", "2"}, "tester", "analyst", "--workers 2"},
		"named first":                             {[]string{"signalbox", "tester", "--help"}, "", "tester", "--help"},
		"named first in an image":                 {[]string{"signalbox-service", "tester", "--help"}, "writer", "tester", "--help"},
		"from the environment of an image":        {[]string{"signalbox-service", "--healthcheck"}, "tester", "tester", "--healthcheck"},
		"no program name, as exec allows":         {nil, "build", "build", ""},
		"an argument of a service is no service":  {[]string{"developer", "tester"}, "", "developer", "tester"},
		"a health check of any service":           {[]string{"signalbox-service", "--healthcheck"}, "", "signalbox-service", "--healthcheck"},
		"the environment of a brain is no call":   {[]string{"signalbox"}, "developer", "", ""},
		"a command of the command line":           {[]string{"signalbox", "ls"}, "developer", "", ""},
		"none":                                    {[]string{"signalbox-service"}, "", "", ""},
		"a typo":                                  {[]string{"signalbox-service", "analist"}, "tester", "", ""},
		"a typo in the environment":               {[]string{"signalbox-service", "--help"}, "Tester", "", ""},
		"a health check that names no service":    {[]string{"signalbox", "--healthcheck"}, "", "", ""},
		"arguments of a health check are its own": {[]string{"signalbox-service", "--healthcheck", "--http=:1"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, ok := service.Called(c.argv, c.env, all)
			if m.Name != c.service || ok != (c.service != "") || strings.Join(m.Args, " ") != c.args || ok && m.Args == nil {
				t.Errorf("%q with %q, %t", m.Name, m.Args, ok)
			}
		})
	}
}
