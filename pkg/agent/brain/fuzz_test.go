package brain

import "testing"

// FuzzDecodeResult holds that what a program states is decoded or refused.
func FuzzDecodeResult(f *testing.F) {
	f.Add([]byte(`{"status":"success","confidence_score":1,"data":{"a":"b"},"sections":{"x":{}}}`))
	f.Add([]byte(`{"status":"blocked","asks":[{"to":"cto","question":"?"}],"escalate":{"reason":"x","requires_human":true}}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = DecodeResult(text) })
}
