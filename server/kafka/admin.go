package kafka

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Resource names what has settings: a topic, a broker by its id, or all brokers by "".
type Resource struct {
	Kind int8
	Name string
}

// Kinds of resources, by Kafka's numbers (ConfigResource.Type).
const (
	ResourceTopic  int8 = 2
	ResourceBroker int8 = 4
	ResourceGroup  int8 = 32
)

// Setting is one of Kafka's settings with its value. Type and Source are Kafka's numbers.
type Setting struct {
	Name, Value  string
	Type, Source int8
	ReadOnly     bool
	// Synonyms are the places that say it, the one that counts first.
	Synonyms []Synonym
}

// Synonym is one place that says a setting.
type Synonym struct {
	Name, Value string
	Source      int8
}

// Sources of settings, by Kafka's numbers (DescribeConfigsResponse.ConfigSource).
const (
	SourceTopic   int8 = 1
	SourceBroker  int8 = 2 // DYNAMIC_BROKER_CONFIG: told to this broker while it ran
	SourceDynamic int8 = 3 // DYNAMIC_DEFAULT_BROKER_CONFIG: told to all brokers while they ran
	SourceStatic  int8 = 4
	SourceDefault int8 = 5
)

// Operations on a setting, by Kafka's numbers (AlterConfigOp.OpType).
const (
	SetSetting int8 = iota
	DeleteSetting
	AppendSetting
	SubtractSetting
)

// SettingChange changes one setting; Value is nil only for DeleteSetting.
type SettingChange struct {
	Name  string
	Op    int8
	Value *string
}

// Alteration changes settings of one resource.
type Alteration struct {
	// Whole is set where what is not named goes back to its default.
	Whole        bool
	Changes      []SettingChange
	ValidateOnly bool
}

// Copy is a broker's copy of a partition. Lag is how far it is behind the high watermark.
type Copy struct {
	Topic     string
	Partition int32
	Bytes     int64
	Lag       int64
}

// Reassignment is a partition on its way to other brokers.
type Reassignment struct {
	Topic                      string
	Partition                  int32
	Replicas, Adding, Removing []int32
}

// Admin is what an operator can ask of the cluster. The codes are Kafka's, with words to them.
type Admin interface {
	DeleteTopic(nowMs int64, name string) (code int16, message string)
	// AddPartitions makes a topic's partitions total in number; places lists the replicas of each new one where they are
	// placed by hand.
	AddPartitions(nowMs int64, topic string, total int32, places [][]int32) (code int16, message string)
	DeleteRecords(nowMs int64, broker int32, topic string, partition int32, offset int64) (start int64, code int16)
	// Settings lists the settings of a resource, by name, as the asked broker knows them.
	Settings(broker int32, r Resource) (list []Setting, code int16, message string)
	Alter(nowMs int64, r Resource, a Alteration) (code int16, message string)
	// LogDir lists the copies of a broker by topic and partition, and says where they are.
	LogDir(broker int32) (path string, copies []Copy)
	Elect(nowMs int64, topic string, partition int32, unclean bool) (code int16, message string)
	Reassign(nowMs int64, topic string, partition int32, to []int32, mayResize bool) (code int16, message string)
	Reassignments() []Reassignment
	// Fenced are the brokers that the controller takes for gone.
	Fenced() []Broker
}

// Apply makes the change in a resource's own settings. standard is what lists begin with that the resource says nothing of.
// The code is Kafka's (ConfigurationControlManager.incrementalAlterConfigResource).
func (c SettingChange) Apply(own, standard map[string]string, list bool) (code int16, message string) {
	switch c.Op {
	case SetSetting:
		own[c.Name] = *c.Value
		return 0, ""
	case DeleteSetting:
		delete(own, c.Name)
		return 0, ""
	}
	if !list {
		return kerr.InvalidConfig.Code, c.Name + " is no list: nothing can be appended to it or taken from it"
	}
	value, ok := own[c.Name]
	if !ok {
		value = standard[c.Name]
	}
	var items []string
	if value != "" {
		items = strings.Split(value, ",")
	}
	for _, item := range strings.Split(*c.Value, ",") {
		if c.Op == SubtractSetting {
			items = slices.DeleteFunc(items, func(old string) bool { return old == item })
		} else if !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	own[c.Name] = strings.Join(items, ",")
	return 0, ""
}
