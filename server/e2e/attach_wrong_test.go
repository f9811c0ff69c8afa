package e2e

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/app"
)

// newFake starts a cluster of kfake's.
func newFake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// lost waits until the watcher says that it does not see a source, for this reason.
func lost(t testing.TB, watcher *app.Server, source, reason string) event.SightChanged {
	t.Helper()
	return known(t, watcher, source+" is lost: "+reason, func(e event.Event) bool {
		b, is := e.Body.(event.SightChanged)
		return is && b.Lost && b.Source == source && strings.Contains(b.Reason, reason)
	}).Body.(event.SightChanged)
}

func regained(t testing.TB, watcher *app.Server, source string) {
	t.Helper()
	known(t, watcher, source+" is seen again", func(e event.Event) bool {
		b, is := e.Body.(event.SightChanged)
		return is && !b.Lost && b.Source == source
	})
}

// TestAttachPollsWhereTheLogIsForbidden: without Read on __consumer_offsets groups are seen by asking, the page says which right
// is missing and what that hides, and all the same nothing is asked that would change something.
func TestAttachPollsWhereTheLogIsForbidden(t *testing.T) {
	t.Parallel()
	f := newFake(t, kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(time.Second), kfake.SeedTopics(2, "orders", "__consumer_offsets"))
	id := f.TopicInfo("__consumer_offsets").TopicID
	f.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		fetch, is := r.(*kmsg.FetchRequest)
		if !is || len(fetch.Topics) == 0 || fetch.Topics[0].TopicID != id {
			return nil, nil, false
		}
		answer := fetch.ResponseKind().(*kmsg.FetchResponse)
		for _, asked := range fetch.Topics {
			topic := kmsg.NewFetchResponseTopic()
			topic.Topic, topic.TopicID = asked.Topic, asked.TopicID
			for _, p := range asked.Partitions {
				partition := kmsg.NewFetchResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, kerr.TopicAuthorizationFailed.Code
				topic.Partitions = append(topic.Partitions, partition)
			}
			answer.Topics = append(answer.Topics, topic)
		}
		return answer, nil, true
	})
	watcher := attachTo(t, strings.Join(f.ListenAddrs(), ","), nil)
	if got := lost(t, watcher, "__consumer_offsets", "may not be read"); got.Right != "Read on Topic __consumer_offsets" || got.Code != 29 || got.Hides == "" {
		t.Errorf("what is missing: %+v", got)
	}
	known(t, watcher, "that it polls", func(e event.Event) bool {
		b, is := e.Body.(event.ClusterAttached)
		return is && b.Mode == "poll"
	})
	live(t, f.ListenAddrs(), "a", "polled", kgo.ConsumeTopics("orders"))
	assigned := func(members int) func(event.Event) bool {
		return func(e event.Event) bool {
			b, is := e.Body.(event.AssignmentStored)
			return is && e.Group == "polled" && len(b.Assignments) == members
		}
	}
	known(t, watcher, "that one member has all", assigned(1))
	live(t, f.ListenAddrs(), "b", "polled", kgo.ConsumeTopics("orders"))
	known(t, watcher, "that two members share", assigned(2))
}

// attachWith writes a file of properties and attaches with it.
func attachWith(t testing.TB, seeds, properties string, log io.Writer) *app.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(path, []byte(properties), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := app.ParseAttach(seeds, path)
	if err != nil {
		t.Fatal(err)
	}
	return startServer(t, app.Config{HTTP: "127.0.0.1:0", Attach: to, Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
}

// shown reads everything that the watcher's pages say.
func shown(t testing.TB, watcher *app.Server) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/live", "/api/state", "/api/events", "/metrics", "/healthz"} {
		answer, err := http.Get(watcher.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", path, answer.Status, err)
		}
		all.Write(text)
	}
	return all.String()
}

// safe is a log that many may write.
type safe struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestAttachSaysWhoItIs: PLAIN and SCRAM over TLS, by a file of properties; a wrong password and a wrong authority are told in
// words, and no secret is in what is shown or logged.
func TestAttachSaysWhoItIs(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, nil, func(c *app.Config) { c.Users = []app.User{{Name: "bob", Password: "hunter2hunter2"}} })
	login := map[string]string{"PLAIN": "plain.PlainLoginModule", "SCRAM-SHA-256": "scram.ScramLoginModule", "SCRAM-SHA-512": "scram.ScramLoginModule"}
	properties := func(mechanism, password, trust string) string {
		return "security.protocol=SASL_SSL\nsasl.mechanism=" + mechanism + "\nssl.truststore.type=PEM\n" + trust +
			"sasl.jaas.config=org.apache.kafka.common.security." + login[mechanism] + " required \\\n  username=\"bob\" password=\"" + password + "\";\n"
	}
	trust := "ssl.truststore.location=" + a.file + "\n"
	for mechanism := range login {
		var log safe
		watcher := attachWith(t, s.KafkaAddrs()[0], properties(mechanism, "hunter2hunter2", trust), &log)
		known(t, watcher, "that it is attached by "+mechanism, func(e event.Event) bool { return e.Body.Kind() == "ClusterAttached" })
		if all := shown(t, watcher) + log.String(); strings.Contains(all, "hunter2") {
			t.Errorf("%s: the password is told: %s", mechanism, all)
		}
	}
	for name, c := range map[string]struct{ properties, want string }{
		"wrong password":  {properties("SCRAM-SHA-256", "hunter3hunter3", trust), "it refuses who we say we are (SCRAM-SHA-256)"},
		"wrong, PLAIN":    {properties("PLAIN", "hunter3hunter3", trust), "it refuses who we say we are (PLAIN)"},
		"wrong authority": {properties("PLAIN", "hunter2hunter2", ""), "its certificate was signed by nobody we believe"},
		"no TLS":          {"security.protocol=PLAINTEXT\n", "it ends the connection without a word"},
	} {
		var log safe
		watcher := attachWith(t, s.KafkaAddrs()[0], c.properties, &log)
		lost(t, watcher, "the cluster", c.want)
		if all := shown(t, watcher) + log.String(); strings.Contains(all, "hunter") {
			t.Errorf("%s: the password is told: %s", name, all)
		}
	}
}

// TestAttachOutlivesItsCluster: nobody there at the start, then a cluster, then another one under the same address: each is told,
// and the page answers all the while.
func TestAttachOutlivesItsCluster(t *testing.T) {
	t.Parallel()
	address := ports(t, 1)
	watcher := attachTo(t, address, nil)
	lost(t, watcher, "the cluster", "nobody listens there")
	shown(t, watcher)
	var port int
	fmt.Sscanf(strings.TrimPrefix(address, "127.0.0.1:"), "%d", &port)
	attached := func(id string) func(event.Event) bool {
		return func(e event.Event) bool {
			b, is := e.Body.(event.ClusterAttached)
			return is && b.ClusterID == id
		}
	}
	one := newFake(t, kfake.NumBrokers(1), kfake.Ports(port), kfake.ClusterID("one"))
	known(t, watcher, "cluster one", attached("one"))
	regained(t, watcher, "the cluster")
	one.Close()
	lost(t, watcher, "broker 0", "")
	newFake(t, kfake.NumBrokers(1), kfake.Ports(port), kfake.ClusterID("two"))
	known(t, watcher, "cluster two", attached("two"))
}

// TestAttachSeesABrokerDie: a killed broker is told with its reason, what it led is read from the next leader, and it is told
// when it is back. The group that it coordinated is followed all the while.
func TestAttachSeesABrokerDie(t *testing.T) {
	t.Parallel()
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Set: quick, Topics: []app.Topic{{Name: "orders", Partitions: 6}}})
	live(t, s.KafkaAddrs(), "a", "moved", kgo.ConsumeTopics("orders"))
	stable(t, s, "moved", 1)
	watcher := attachTo(t, strings.Join(s.KafkaAddrs(), ","), nil)
	settled(t, s, watcher, "moved")
	_, broker := coordinatorOf(t, s, "moved")
	if err := act(t, s, fmt.Sprintf("/api/brokers/%d/kill", broker)); err != nil {
		t.Fatal(err)
	}
	source := fmt.Sprint("broker ", broker)
	lost(t, watcher, source, "")
	live(t, s.KafkaAddrs(), "b", "moved", kgo.ConsumeTopics("orders"))
	known(t, s, "that two members share", func(e event.Event) bool {
		b, is := e.Body.(event.AssignmentStored)
		return is && e.Group == "moved" && len(b.Assignments) == 2
	})
	settled(t, s, watcher, "moved")
	if err := act(t, s, fmt.Sprintf("/api/brokers/%d/restart", broker)); err != nil {
		t.Fatal(err)
	}
	regained(t, watcher, source)
	admin := kadm.NewClient(client(t, s))
	eventually(t, 20*time.Second, func() error { return admin.CommitAllOffsets(t.Context(), "after", offsetsOf("orders", 1, 3)) })
	known(t, watcher, "a commit after all that", func(e event.Event) bool { return e.Group == "after" && e.Body.Kind() == "OffsetsCommitted" })
}

// act asks the server's page to do something.
func act(t testing.TB, s *app.Server, path string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-GroupLab-Token", s.Token())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return errors.New(string(text))
	}
	return nil
}

// TestAttachCanDoNothing: nothing that changes something can be asked of a page that only watches, with whatever token.
func TestAttachCanDoNothing(t *testing.T) {
	t.Parallel()
	watcher := attachTo(t, "127.0.0.1:1", nil)
	for _, path := range []string{"/api/brokers/1/kill", "/api/demo", "/api/topics/x/partitions", "/api/partitions/move"} {
		if err := act(t, watcher, path); err == nil || !strings.Contains(err.Error(), "only observed") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if answer, err := http.Get(watcher.URL() + "/api/probe?group=x"); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("probe: %v, %v", answer, err)
	}
}
