// Answers for device selectors (k8s.io/dynamic-resource-allocation/cel) and regular expressions (Go's regexp), one JSON
// request a line on standard input and one JSON answer a line on standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"regexp"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"
)

// request has an expression, or a pattern and a text as bytes.
type request struct {
	Expression string `json:"expression"`
	Pattern    string `json:"pattern"`
	Text       string `json:"text"`
	IsPattern  bool   `json:"isPattern"`
}

type answer struct {
	Matches      *bool    `json:"matches,omitempty"`
	CompileError string   `json:"compileError,omitempty"`
	Error        string   `json:"error,omitempty"`
	Cost         *uint64  `json:"cost,omitempty"`
	MaxCost      *uint64  `json:"maxCost,omitempty"`
	Found        []string `json:"found,omitempty"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	decoder := json.NewDecoder(lines)
	for decoder.More() {
		var asked request
		if err := decoder.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		reply := evaluate(asked.Expression)
		if asked.IsPattern {
			reply = match(asked.Pattern, asked.Text)
		}
		if err := answers.Encode(reply); err != nil {
			log.Fatal(err)
		}
	}
}

func match(pattern, text string) answer {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return answer{Error: err.Error()}
	}
	matches := compiled.MatchString(text)
	return answer{Matches: &matches, Found: compiled.FindAllString(text, -1)}
}

func evaluate(expression string) answer {
	compiled := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, cel.Options{})
	if compiled.Error != nil {
		return answer{CompileError: compiled.Error.Detail}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), device)
	reply := answer{MaxCost: &compiled.MaxCost}
	if details != nil {
		reply.Cost = details.ActualCost()
	}
	if err != nil {
		reply.Error = err.Error()
	} else {
		reply.Matches = &matches
	}
	return reply
}

func of[T any](value T) *T { return &value }

// published are the attributes and capacities of the device of tests/plugins/devices/test_cel.py.
var published = resourceapi.Device{
	Name:                     "d0",
	AllowMultipleAllocations: of(false),
	Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
		"model":                           {StringValue: of("a100")},
		"numa":                            {IntValue: of(int64(0))},
		"ecc":                             {BoolValue: of(true)},
		"driverVersion":                   {VersionValue: of("1.2.3")},
		"resource.kubernetes.io/pcieRoot": {StringValue: of("pci0")},
	},
	Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
}
