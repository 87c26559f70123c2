package exec

import (
	"bytes"
	"testing"
)

// FuzzTranscript holds that no line that a coding agent prints stops who reads it.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte(`{"type":"result","subtype":"success","result":"done","usage":{"input_tokens":1}}`))
	f.Add([]byte(`{"type":"item.completed","item":{"type":"agent_message","text":"{\"status\":\"success\"}"}}`))
	f.Add([]byte("Tokens: 1.2k sent, 3 received. Cost: $0.01 message\n```json\n{\"status\":\"failure\"}\n```"))
	f.Fuzz(func(_ *testing.T, transcript []byte) {
		for _, read := range []func(*answer, []byte){readClaude, readCodex, readGemini, readOpencode, readGoose, readAider} {
			var a answer
			for line := range bytes.Lines(transcript) {
				read(&a, line)
			}
			_ = lastObject(a.text, maxObject)
			_ = summary(&a, transcript)
		}
	})
}
