package subject

import "strings"

// Pull returns where a consumer of the log is asked for messages. domain and prefix
// are those of JetStream's API, as its client is configured; either may be empty.
func Pull(domain, prefix, consumer string) string {
	api := "$JS.API"
	switch {
	case domain != "":
		api = "$JS." + domain + ".API"
	case prefix != "":
		api = strings.TrimSuffix(prefix, ".")
	}
	return api + ".CONSUMER.MSG.NEXT." + EventStream + "." + consumer
}
