package role_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/role"
)

func TestAHostAndAVariableMayBeForOneRole(t *testing.T) {
	s := role.Settings{Brain: []string{"developer=exec:true", "tester=exec:true"},
		Egress: []string{"modules.example.com", "developer=packages.example.com:443", "tester=[::1]:80"}, Env: []string{"developer=AWS_PROFILE", "LANG"}}
	if err := s.CheckBrains([]string{"developer", "tester"}, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2][]string{
		"developer": {{"modules.example.com", "packages.example.com:443"}, {"AWS_PROFILE", "LANG"}},
		"tester":    {{"modules.example.com", "[::1]:80"}, {"LANG"}},
	} {
		own, err := s.Of(name)
		if err != nil || !reflect.DeepEqual([2][]string{own.Egress, own.Env}, want) {
			t.Errorf("%s gets %v and %v, %v", name, own.Egress, own.Env, err)
		}
	}
	for _, c := range []struct {
		s    role.Settings
		want string
	}{
		{role.Settings{Egress: []string{"develper=x.example.com"}}, "--egress develper=x.example.com: there is no role develper here; did you mean developer?"},
		{role.Settings{Env: []string{"KEY=s3cret=x"}}, "--brain-env KEY: want ROLE=VALUE or VALUE"},
		{role.Settings{Env: []string{"developer="}}, "--brain-env developer: want ROLE=VALUE or VALUE"},
		{role.Settings{Egress: []string{"xyz=x.example.com"}}, "want one of developer, tester"},
	} {
		if err := c.s.CheckBrains([]string{"developer", "tester"}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
