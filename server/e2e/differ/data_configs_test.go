//go:build interop

package differ

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kinds of resources.
const (
	ofTopic  = kmsg.ConfigResourceTypeTopic
	ofBroker = kmsg.ConfigResourceTypeBroker
)

func describeConfigsOf(v int16, kind kmsg.ConfigResourceType, resource string, names ...string) *kmsg.DescribeConfigsRequest {
	r := kmsg.NewPtrDescribeConfigsRequest()
	r.Version = v
	one := kmsg.NewDescribeConfigsRequestResource()
	one.ResourceType, one.ResourceName, one.ConfigNames = kind, resource, names
	r.Resources = append(r.Resources, one)
	return r
}

// change is one operation on a setting; op is Kafka's number.
type change struct {
	name  string
	op    int8
	value *string
}

func to(value string) *string { return &value }

func incrementalOf(v int16, kind kmsg.ConfigResourceType, resource string, changes ...change) *kmsg.IncrementalAlterConfigsRequest {
	r := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r.Version = v
	one := kmsg.NewIncrementalAlterConfigsRequestResource()
	one.ResourceType, one.ResourceName = kind, resource
	for _, c := range changes {
		one.Configs = append(one.Configs, kmsg.IncrementalAlterConfigsRequestResourceConfig{Name: c.name, Op: kmsg.IncrementalAlterConfigOp(c.op), Value: c.value})
	}
	r.Resources = append(r.Resources, one)
	return r
}

func alterOf(v int16, kind kmsg.ConfigResourceType, resource string, changes ...change) *kmsg.AlterConfigsRequest {
	r := kmsg.NewPtrAlterConfigsRequest()
	r.Version = v
	one := kmsg.NewAlterConfigsRequestResource()
	one.ResourceType, one.ResourceName = kind, resource
	for _, c := range changes {
		one.Configs = append(one.Configs, kmsg.AlterConfigsRequestResourceConfig{Name: c.name, Value: c.value})
	}
	r.Resources = append(r.Resources, one)
	return r
}

// alterTopic sets one setting as a preparation, and waits until it is in force.
func (s *side) alterTopic(topic, name, value string) {
	a := s.ask("admin", incrementalOf(1, ofTopic, topic, change{name, 0, &value})).(*kmsg.IncrementalAlterConfigsResponse)
	if a.Resources[0].ErrorCode != 0 {
		s.stop("altering %s: error %d", topic, a.Resources[0].ErrorCode)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		d := s.ask("admin", describeConfigsOf(4, ofTopic, topic, name)).(*kmsg.DescribeConfigsResponse).Resources[0]
		if len(d.Configs) == 1 && d.Configs[0].Value != nil && *d.Configs[0].Value == value {
			return
		}
		if time.Now().After(deadline) {
			s.stop("%s of %s does not become %s", name, topic, value)
		}
	}
}

// steady looks at a topic's settings a moment later: what was altered is published then.
func (s *side) steady(topic string) {
	if s.unhurried {
		time.Sleep(9 * settle)
	}
	time.Sleep(settle)
	s.tell("c", describeConfigsOf(4, ofTopic, topic, "cleanup.policy", "retention.ms", "max.message.bytes", "min.insync.replicas", "leader.replication.throttled.replicas"))
}

// alterations are changes to a topic that says cleanup.policy=compact and retention.ms=5000.
var alterations = []struct {
	name    string
	changes []change
}{
	{"set", []change{{"max.message.bytes", 0, to("5000")}}}, {"set what is set", []change{{"retention.ms", 0, to("7000")}}}, {"delete", []change{{"retention.ms", 1, nil}}},
	{"delete with a value", []change{{"retention.ms", 1, to("x")}}}, {"delete what is not set", []change{{"max.message.bytes", 1, nil}}},
	{"append", []change{{"cleanup.policy", 2, to("delete")}}}, {"append what is there", []change{{"cleanup.policy", 2, to("compact")}}}, {"append two", []change{{"cleanup.policy", 2, to("compact,delete")}}},
	{"subtract", []change{{"cleanup.policy", 3, to("compact")}}}, {"subtract what is not there", []change{{"cleanup.policy", 3, to("delete")}}},
	{"append to what is not set", []change{{"leader.replication.throttled.replicas", 2, to("0:1,1:1")}}}, {"subtract from what is not set", []change{{"leader.replication.throttled.replicas", 3, to("0:1")}}},
	{"append to a number", []change{{"retention.ms", 2, to("5")}}}, {"subtract from a number", []change{{"retention.ms", 3, to("5")}}}, {"append rubbish", []change{{"cleanup.policy", 2, to("keep")}}},
	{"append nothing", []change{{"cleanup.policy", 2, to("")}}}, {"append null", []change{{"cleanup.policy", 2, nil}}}, {"set null", []change{{"retention.ms", 0, nil}}}, {"set nothing", []change{{"cleanup.policy", 0, to("")}}},
	{"no operation of that number", []change{{"retention.ms", 4, to("5")}}}, {"a negative operation", []change{{"retention.ms", -1, to("5")}}},
	{"a setting that is none", []change{{"colour", 0, to("red")}}}, {"delete a setting that is none", []change{{"colour", 1, nil}}}, {"append to a setting that is none", []change{{"colour", 2, to("red")}}},
	{"a setting without a name", []change{{"", 0, to("red")}}}, {"a setting twice", []change{{"retention.ms", 0, to("1")}, {"retention.ms", 0, to("2")}}}, {"a setting twice, another operation", []change{{"cleanup.policy", 2, to("delete")}, {"cleanup.policy", 3, to("compact")}}},
	{"a broker's setting", []change{{"log.retention.ms", 0, to("5")}}}, {"a value that is none", []change{{"retention.ms", 0, to("long")}}}, {"a value out of bounds", []change{{"min.insync.replicas", 0, to("0")}}},
	{"one good, one bad", []change{{"retention.ms", 0, to("9000")}, {"max.message.bytes", 0, to("-4")}}}, {"nothing", nil}, {"several", []change{{"retention.ms", 0, to("9000")}, {"max.message.bytes", 0, to("4000")}, {"cleanup.policy", 1, nil}}},
	{"a value with blanks", []change{{"retention.ms", 0, to(" 9000 ")}}}, {"policies with blanks", []change{{"cleanup.policy", 0, to("compact, delete")}}},
}

func configQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	altered := func(s *side) string {
		return s.topic("t", 1, "cleanup.policy", "compact", "retention.ms", "5000")
	}
	for _, a := range alterations {
		// An unknown operation makes Kafka's controller resign, which holds up everybody: it is asked once.
		unknown := slices.ContainsFunc(a.changes, func(c change) bool { return c.op < 0 || c.op > 3 })
		for _, only := range []bool{false, true} {
			if unknown && !only {
				continue
			}
			since := int16(map[bool]int{true: 1}[only])
			add(44, since, fmt.Sprintf("%s, only validated %v", a.name, only), func(s *side, v int16) {
				t := altered(s)
				r := incrementalOf(v, ofTopic, t, a.changes...)
				r.ValidateOnly = only
				s.tell("a", r)
				s.steady(t)
			})
			if slices.ContainsFunc(a.changes, func(c change) bool { return c.op != 0 }) {
				continue
			}
			add(33, 0, fmt.Sprintf("%s, only validated %v", a.name, only), func(s *side, v int16) {
				t := altered(s)
				r := alterOf(v, ofTopic, t, a.changes...)
				r.ValidateOnly = only
				s.tell("a", r)
				s.steady(t)
			})
		}
	}
	set := change{"retention.ms", 0, to("5000")}
	for _, kind := range []kmsg.ConfigResourceType{0, 1, ofTopic, 3, ofBroker, 7, 8, 99} {
		for _, name := range []string{"", "absent", "a b", "1", "7", "-1"} {
			title := fmt.Sprintf("resource type %d named %q", kind, name)
			if !(kind == ofBroker && (name == "1" || name == "")) {
				add(44, 0, title, func(s *side, v int16) { s.tell("a", incrementalOf(v, kind, name, set)) })
				add(33, 0, title, func(s *side, v int16) { s.tell("a", alterOf(v, kind, name, set)) })
				add(32, 0, title, func(s *side, v int16) { s.tell("a", describeConfigsOf(v, kind, name)) })
			}
		}
	}
	for _, c := range []change{{"message.max.bytes", 0, to("many")}, {"message.max.bytes", 0, to("-1")}, {"node.id", 0, to("5")}, {"auto.create.topics.enable", 0, to("false")},
		{"message.max.bytes", 2, to("5")}, {"message.max.bytes", 0, nil}, {"log.retention.ms", 0, to("0")}, {"min.insync.replicas", 0, to("0")}, {"min.insync.replicas", 1, nil}} {
		for _, only := range []bool{false, true} {
			add(44, 0, fmt.Sprintf("all brokers, %s %d %v, only validated %v", c.name, c.op, text(c.value), only), func(s *side, v int16) {
				r := incrementalOf(v, ofBroker, "", c)
				r.ValidateOnly = only
				s.tell("a", r)
			})
		}
	}
	for _, c := range []change{{"log.retention.ms", 0, to("604800001")}, {"min.insync.replicas", 0, to("1")}, {"min.insync.replicas", 0, to("9")}, {"offsets.topic.num.partitions", 0, to("20")}, {"log.cleaner.delete.retention.ms", 0, to("86400001")}, {"colour", 0, to("red")}} {
		add(44, 0, "all brokers, validated "+c.name+"="+*c.value, func(s *side, v int16) {
			r := incrementalOf(v, ofBroker, "", c)
			r.ValidateOnly = true
			s.tell("a", r)
		})
	}
	for name, resources := range map[string][]string{"one twice": {sharedData, sharedData}, "several": {sharedData, "absent", "a b"}, "none": nil} {
		add(44, 0, name, func(s *side, v int16) {
			r := incrementalOf(v, ofTopic, "x", set)
			one := r.Resources[0]
			r.Resources, r.ValidateOnly = nil, true
			for _, n := range resources {
				one.ResourceName = n
				r.Resources = append(r.Resources, one)
			}
			s.tell("a", r)
		})
		add(33, 0, name, func(s *side, v int16) {
			r := alterOf(v, ofTopic, "x", set)
			one := r.Resources[0]
			r.Resources, r.ValidateOnly = nil, true
			for _, n := range resources {
				one.ResourceName = n
				r.Resources = append(r.Resources, one)
			}
			s.tell("a", r)
		})
		add(32, 0, name, func(s *side, v int16) {
			r := describeConfigsOf(v, ofTopic, "x", "retention.ms")
			one := r.Resources[0]
			r.Resources = nil
			for _, n := range resources {
				one.ResourceName = n
				r.Resources = append(r.Resources, one)
			}
			s.tell("a", r)
		})
	}
	return append(all, describeQuestions()...)
}

func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// onBoth are broker settings that both brokers have.
var onBoth = []string{"message.max.bytes", "min.insync.replicas", "num.partitions", "auto.create.topics.enable", "node.id", "log.cleaner.delete.retention.ms", "group.max.size",
	"group.initial.rebalance.delay.ms", "offsets.topic.num.partitions", "offset.metadata.max.bytes", "fetch.max.bytes", "transaction.max.timeout.ms", "log.cleaner.min.cleanable.ratio"}

func describeQuestions() (all []dataQuestion) {
	for _, synonyms := range []bool{false, true} {
		for _, words := range []bool{false, true} {
			add := func(name string, kind kmsg.ConfigResourceType, resource string, names ...string) {
				all = append(all, dataQuestion{api: 32, name: fmt.Sprintf("%s, synonyms %v, documentation %v", name, synonyms, words), ask: func(s *side, v int16) {
					r := describeConfigsOf(v, kind, resource, names...)
					r.IncludeSynonyms, r.IncludeDocumentation = synonyms, words
					s.tell("c", r)
				}})
			}
			add("a topic", ofTopic, sharedData)
			add("some of a topic", ofTopic, sharedData, "retention.ms", "colour", "max.message.bytes")
			add("a topic's settings that are none", ofTopic, sharedData, "colour")
			add("of the offsets", ofTopic, "__consumer_offsets")
			add("some of a broker", ofBroker, "1", onBoth...)
			add("some of a broker that are none", ofBroker, "1", "colour")
			add("all brokers", ofBroker, "")
			all = append(all, dataQuestion{api: 32, name: fmt.Sprintf("a topic with settings of its own, synonyms %v, documentation %v", synonyms, words), ask: func(s *side, v int16) {
				t := s.topic("t", 1, "cleanup.policy", "compact", "retention.ms", "5000", "max.message.bytes", "20000")
				r := describeConfigsOf(v, ofTopic, t)
				r.IncludeSynonyms, r.IncludeDocumentation = synonyms, words
				s.tell("c", r)
			}})
		}
	}
	empty := dataQuestion{api: 32, name: "an empty list of names", ask: func(s *side, v int16) {
		r := describeConfigsOf(v, ofTopic, sharedData)
		r.Resources[0].ConfigNames = []string{}
		s.tell("c", r)
	}}
	return append(all, empty)
}
