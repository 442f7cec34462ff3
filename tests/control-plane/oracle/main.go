// Command oracle answers questions about authorization with Kubernetes' own functions: one JSON object a line in,
// one a line out, in the same order. It is the judge of rolecall's differential tests.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// question is one line of input; Ask names the function and the other fields are its arguments.
type question struct {
	Ask string `json:"ask"`
	policy
	Requests []attributes      `json:"requests,omitempty"`
	User     subject           `json:"user"`
	Owner    json.RawMessage   `json:"owner,omitempty"`
	Servant  json.RawMessage   `json:"servant,omitempty"`
	HTTP     []httpRequest     `json:"http,omitempty"`
	Objects  []json.RawMessage `json:"objects,omitempty"`
}

func answer(q question) (any, error) {
	switch q.Ask {
	case "version":
		return map[string]string{"kubernetes": kubernetesVersion()}, nil
	case "authorize":
		return authorize(q)
	case "escalation":
		return escalation(q)
	case "covers":
		return covers(q)
	case "attributes":
		return requestAttributes(q.HTTP), nil
	case "validate":
		return validate(q.Objects)
	case "selects":
		return selects(q)
	case "rules":
		return rulesFor(q)
	case "audit-records":
		return auditRecords(q)
	case "builtin":
		return builtin(), nil
	}
	return nil, fmt.Errorf("unknown question %q", q.Ask)
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var q question
			var reply any
			failure := json.Unmarshal(line, &q)
			if failure == nil {
				reply, failure = answer(q)
			}
			if failure != nil {
				reply = map[string]string{"error": failure.Error()}
			}
			if encoder.Encode(reply) != nil || out.Flush() != nil {
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
