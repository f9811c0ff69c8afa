package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/drive"
	"grouplab/server/store"
)

// metadataVersion is the version of metadata.json that is written and read.
const metadataVersion = 1

// savedMetadata is metadata.json: what Kafka's controller keeps in its metadata log.
type savedMetadata struct {
	Version        int               `json:"version"`
	ClusterID      string            `json:"clusterId"`
	NextProducerID int64             `json:"nextProducerId"`
	TopicsCreated  int               `json:"topicsCreated"`
	Settings       map[string]string `json:"settings"`
	Topics         []savedTopic      `json:"topics"`
}

type savedTopic struct {
	Name       string           `json:"name"`
	ID         string           `json:"id"`
	Number     int              `json:"number"`
	Configs    []savedConfig    `json:"configs"`
	Partitions []savedPartition `json:"partitions"`
}

type savedConfig struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type savedPartition struct {
	Leader   int32   `json:"leader"`
	Epoch    int32   `json:"epoch"`
	Replicas []int32 `json:"replicas"`
	ISR      []int32 `json:"isr"`
	Adding   []int32 `json:"adding,omitempty"`
	Removing []int32 `json:"removing,omitempty"`
}

// writeMetadata makes the text of metadata.json, a line for each partition.
func writeMetadata(s drive.State, settings map[string]string) []byte {
	if settings == nil {
		settings = map[string]string{}
	}
	var out bytes.Buffer
	put := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("app: %T cannot be written as JSON: %v", v, err))
		}
		out.Write(text)
	}
	fmt.Fprintf(&out, "{\n\"version\": %d,\n\"clusterId\": ", metadataVersion)
	put(s.ClusterID)
	fmt.Fprintf(&out, ",\n\"nextProducerId\": %d,\n\"topicsCreated\": %d,\n\"settings\": ", s.NextProducerID, s.TopicNumbers)
	put(settings)
	out.WriteString(",\n\"topics\": [")
	for i, t := range s.Topics {
		configs := make([]savedConfig, len(t.Configs))
		for j, c := range t.Configs {
			configs[j] = savedConfig(c)
		}
		out.WriteString(comma(i) + "\n{\"name\": ")
		put(t.Name)
		fmt.Fprintf(&out, ", \"id\": %q, \"number\": %d, \"configs\": ", store.FormatID(t.ID), t.Number)
		put(configs)
		out.WriteString(", \"partitions\": [")
		for j, p := range t.Partitions {
			out.WriteString(comma(j) + "\n  ")
			put(savedPartition(p))
		}
		out.WriteString("]}")
	}
	out.WriteString("]\n}\n")
	return out.Bytes()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// readMetadata reads metadata.json. The error says what is wrong and what would be right.
func readMetadata(text []byte) (s drive.State, settings map[string]string, err error) {
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return s, nil, damagedMetadata(text, err)
	}
	if version.Version != metadataVersion {
		return s, nil, fmt.Errorf("it is of version %d, and this server reads version %d; use the server that wrote it, or a newer one", version.Version, metadataVersion)
	}
	var saved savedMetadata
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&saved); err != nil {
		return s, nil, damagedMetadata(text, err)
	}
	s = drive.State{State: cluster.State{ClusterID: saved.ClusterID, TopicNumbers: saved.TopicsCreated}, NextProducerID: saved.NextProducerID}
	if s.NextProducerID < 0 {
		return s, nil, fmt.Errorf("nextProducerId is %d", s.NextProducerID)
	}
	for _, t := range saved.Topics {
		topic := cluster.TopicState{Name: t.Name, Number: t.Number}
		if topic.ID, err = store.ParseID(t.ID); err != nil {
			return s, nil, fmt.Errorf("topic %q: %w", t.Name, err)
		}
		for _, c := range t.Configs {
			topic.Configs = append(topic.Configs, cluster.TopicConfig(c))
		}
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, cluster.PartitionState(p))
		}
		s.Topics = append(s.Topics, topic)
	}
	return s, saved.Settings, nil
}

// damagedMetadata names the line at which the text ceases to be JSON.
func damagedMetadata(text []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
		err = fmt.Errorf("a JSON %s is not what belongs there", kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(text))
	}
	if at < 0 || at > int64(len(text)) {
		return fmt.Errorf("it is damaged: %w; put a good copy in its place, or move the whole folder away to begin anew", err)
	}
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	return fmt.Errorf("it is damaged in line %d: %w; put a good copy in its place, or move the whole folder away to begin anew", line, err)
}
