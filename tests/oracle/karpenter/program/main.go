// Karpenter's own scheduling simulation as a program: one JSON request a line in, one JSON answer a line out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "instance-types" {
		fail(json.NewEncoder(os.Stdout).Encode(dumpInstanceTypes(os.Args[2:])))
		return
	}
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		fail(json.NewEncoder(output).Encode(answer(line)))
		fail(output.Flush())
	}
}

func answer(line []byte) *Answer {
	var request Request
	if err := json.Unmarshal(line, &request); err != nil {
		return &Answer{Error: fmt.Sprintf("oracle: %s", err)}
	}
	given, err := solve(&request)
	if err != nil {
		return &Answer{ID: request.ID, Error: fmt.Sprintf("oracle: %s", err)}
	}
	given.ID = request.ID
	return given
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
