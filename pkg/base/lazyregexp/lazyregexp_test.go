package lazyregexp_test

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

func TestItMatchesAsRegexpDoes(t *testing.T) {
	const source, text = `(?i)\b(a+)(b)?`, "Ab aab, aaa b"
	eager, lazy := regexp.MustCompile(source), lazyregexp.New(source)
	for i := range reflect.TypeOf(lazy).NumMethod() {
		name := reflect.TypeOf(lazy).Method(i).Name
		method, want := reflect.ValueOf(lazy).Method(i), reflect.ValueOf(eager).MethodByName(name)
		var args []reflect.Value
		for j := range method.Type().NumIn() {
			switch in := method.Type().In(j); in.Kind() {
			case reflect.String:
				args = append(args, reflect.ValueOf([]string{text, "<$1>"}[j]))
			case reflect.Int:
				args = append(args, reflect.ValueOf(-1))
			case reflect.Slice:
				args = append(args, reflect.ValueOf([]byte(text)))
			case reflect.Func:
				args = append(args, reflect.ValueOf(strings.ToUpper))
			default:
				t.Fatalf("%s takes a %s, which this test does not know", name, in)
			}
		}
		if is, want := method.Call(args)[0].Interface(), want.Call(args)[0].Interface(); !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %v, want %v", name, is, want)
		}
	}
}

func TestManyMayUseItAtFirst(t *testing.T) {
	lazy := lazyregexp.New(`x+`)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if lazy.FindString("axxb") != "xx" {
				t.Error("it does not match")
			}
		})
	}
	all.Wait()
}

func TestASourceThatIsNoneFailsAtItsFirstUse(t *testing.T) {
	lazy := lazyregexp.New("(" + strings.Repeat("x", 3))
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	lazy.MatchString("xxx")
}
