// The oracle answers what the real kube-scheduler does with a pod: JSON lines in, JSON lines out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// kubernetesVersion is set by the linker.
var kubernetesVersion = "unknown"

var logger = logr.Discard()

func main() {
	klog.SetLogger(logger)
	utilruntime.ErrorHandlers = nil
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	output := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	if len(arguments) == 1 && arguments[0] == "defaults" {
		answer, err := defaults()
		if err != nil {
			return err
		}
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(answer); err != nil {
			return err
		}
		return output.Flush()
	}
	return serve(os.Stdin, output, encoder)
}
