package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"

	"grouplab/server/observe/timeline"
)

// sight remembers what is not seen, so that a loss is told once and its end once.
type sight struct {
	mu   sync.Mutex
	lost map[string]loss
}

// loss is what was told of a source.
type loss struct {
	code   int16
	reason string
}

// lose tells that a source is not seen any more, unless just that was told already.
func (o *Observer) lose(ctx context.Context, f timeline.SourceFailed) {
	o.sight.mu.Lock()
	before, known := o.sight.lost[f.Source]
	now := loss{f.Code, f.Reason}
	o.sight.lost[f.Source] = now
	o.sight.mu.Unlock()
	if known && before == now {
		return
	}
	o.cfg.Log.Warn(f.Source+" is not seen: "+f.Reason, "right", f.Right, "hides", f.Hides)
	o.saw(ctx, f)
}

// back tells that a source is seen again, where it was not.
func (o *Observer) back(ctx context.Context, source string, broker int32) {
	o.sight.mu.Lock()
	_, known := o.sight.lost[source]
	delete(o.sight.lost, source)
	o.sight.mu.Unlock()
	if known {
		o.cfg.Log.Info(source + " is seen again")
		o.saw(ctx, timeline.SourceBack{Source: source, Broker: broker})
	}
}

// forget drops what was told, for a cluster that is another.
func (s *sight) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.lost)
}

func brokerName(id int32) string           { return fmt.Sprintf("broker %d", id) }
func partitionName(partition int32) string { return fmt.Sprintf("%s-%d", offsetsTopic, partition) }

// Codes of Kafka's that are looked for.
const (
	codeOutOfRange    = 1
	codeUnknownTopic  = 3
	codeNoLeader      = 5
	codeTopicDenied   = 29
	codeClusterDenied = 31
)

// codeOf is the number of one of Kafka's errors, 0 where an error is none.
func codeOf(err error) int16 {
	var e *kerr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// nameOf is what Kafka calls a code.
func nameOf(code int16) string {
	var e *kerr.Error
	if errors.As(kerr.ErrorForCode(code), &e) {
		return e.Message
	}
	return fmt.Sprintf("error %d", code)
}

// words say why a request failed, for people: what was wrong, and what would be right where that is known. No secret is in
// them: errors of the client hold addresses and what the broker said.
func (o *Observer) words(err error) string {
	a := o.cfg.Access
	file := a.from
	if file == "" {
		file = "-attach-config FILE"
	}
	text := strings.ToLower(err.Error())
	var timeout net.Error
	switch {
	case codeOf(err) == 58 || strings.Contains(text, "sasl_authentication_failed"):
		return fmt.Sprintf("it refuses who we say we are (%s): the name or the password is wrong, or nobody is called that with this mechanism (sasl.jaas.config in %s)", a.Mechanism, file)
	case codeOf(err) == 33 || strings.Contains(text, "unsupported_sasl_mechanism"):
		return fmt.Sprintf("it does not speak %s (sasl.mechanism in %s)", a.Mechanism, file)
	case strings.Contains(text, "certificate signed by unknown authority"):
		return fmt.Sprintf("its certificate was signed by nobody we believe (ssl.truststore.location in %s)", file)
	case strings.Contains(text, "certificate is valid for") || strings.Contains(text, "doesn't contain any ip sans"):
		return "its certificate is for another host (" + err.Error() + "); connect by a name that it is for"
	case strings.Contains(text, "first record does not look like a tls handshake"):
		return fmt.Sprintf("it does not speak TLS there (security.protocol in %s is %s)", file, a.Protocol)
	case strings.Contains(text, "bad certificate") || strings.Contains(text, "certificate required"):
		return fmt.Sprintf("it wants a certificate of us that it believes (ssl.keystore.location in %s)", file)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there (connection refused)"
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer in time"
	case errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(text, "eof"):
		return fmt.Sprintf("it ends the connection without a word (is security.protocol %s right?)", a.protocol())
	}
	return err.Error()
}

func (a Access) protocol() string { return first(a.Protocol, "PLAINTEXT") }
