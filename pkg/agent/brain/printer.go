package brain

import "context"

type printerKey struct{}

// WithPrinter returns a context whose brain has what it prints shown to people while it works, line by line: print gets a text of whole
// lines, and returns soon. It may be nil.
func WithPrinter(ctx context.Context, print func(text string)) context.Context {
	return context.WithValue(ctx, printerKey{}, print)
}

// Printer returns the function of WithPrinter; never nil.
func Printer(ctx context.Context) func(text string) {
	if print, ok := ctx.Value(printerKey{}).(func(string)); ok && print != nil {
		return print
	}
	return func(string) {}
}
