package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"grouplab/server/e2e/clients/agent"
)

// properties is the file that each tool is given for brokers that are locked, "" for others.
var properties string

// propertiesFlag is by which flag.
var propertiesFlag = map[string]string{topics: "--command-config", groups: "--command-config",
	producer: "--producer.config", consumer: "--consumer.config"}

func writeProperties() error {
	sec, on := agent.Secured()
	if !on {
		return nil
	}
	module := "scram.ScramLoginModule"
	if sec.Mechanism == "PLAIN" {
		module = "plain.PlainLoginModule"
	}
	lines := []string{"security.protocol=" + sec.Protocol(), "ssl.truststore.type=PEM", "ssl.truststore.location=" + sec.CA, "sasl.mechanism=" + sec.Mechanism,
		fmt.Sprintf("sasl.jaas.config=org.apache.kafka.common.security.%s required username=%q password=%q;", module, sec.User, sec.Password)}
	file, err := os.CreateTemp(filepath.Dir(sec.CA), "tools-*.properties") // which is removed at the end
	if err != nil {
		return err
	}
	defer file.Close()
	properties = file.Name()
	_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}
