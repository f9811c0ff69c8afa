package kafka

import (
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
)

// call is one request under way and its answer.
type call struct {
	conn        *conn
	api         *api
	version     int16
	correlation int32
	clientID    string
	// size is the frame's; weight the answer's, roughly.
	size, weight int
	request      kmsg.Request
	// held is the memory of a large request.
	held *hold
	// noAnswer is set for Produce with acks 0.
	noAnswer bool
	// answered is set on a prompt call whose answer waits for those before it.
	answered bool
	// shared is set where other calls have the same request.
	shared bool
	// bad are the batches of a Produce whose records are wrong, by the places of topic and partition.
	bad map[[2]int]badBatch
	// token is a bare SASL token, and its answer where bare is set; last is why the connection ends behind the answer.
	token []byte
	bare  bool
	last  string
	// response is nil where nothing is to be written: Produce with acks 0.
	response kmsg.Response
	// abandon undoes what waits for this call when its connection ends first: a ticket, a parked fetch.
	ticket int64
	// code is the error code that matters, for the figures.
	code    int16
	abandon func()
}

type badBatch struct {
	code    int16
	message string
}

// note keeps the first error code of an answer that has many.
func (c *call) note(code int16) {
	if c.code == 0 {
		c.code = code
	}
}

// maxWords bounds the words to an error, in bytes. They repeat what the client sent, quoted and so perhaps longer, and the
// versions before KIP-482 have an int16 for their length: one that wraps around makes the rest of the answer unreadable.
const maxWords = 1000

// words are the words to an error as an answer carries them.
func words(message string) *string {
	if len(message) > maxWords {
		end := maxWords
		for end > 0 && !utf8.RuneStart(message[end]) {
			end--
		}
		message = message[:end] + "…"
	}
	return &message
}

// complete answers the call. It is called exactly once, on the loop's goroutine, unless the connection ended first.
func (c *call) complete(response kmsg.Response) {
	c.response = response
	c.ticket, c.abandon = 0, nil
	c.conn.completed(c)
}

// giveUp forgets what waits for the call.
func (c *call) giveUp() {
	if c.ticket != 0 {
		c.conn.srv.cluster.Forget(c.ticket)
	}
	if c.abandon != nil {
		c.abandon()
	}
}

// group hands a request to the coordinator of the connection's broker.
func group(s *Server, c *call, nowMs int64) {
	s.members.asked(c)
	c.ticket = s.cluster.Group(nowMs, c.conn.broker, coordinator.Request{
		ClientID: c.clientID, ClientHost: c.conn.host, Principal: c.conn.principal, Kmsg: c.request}, c)
	s.members.joining(c)
}

// anonymous is who everybody is on a listener without authentication, by Kafka's name.
const anonymous = "User:ANONYMOUS"

// Reply takes the coordinator's answer.
func (c *call) Reply(nowMs int64, r coordinator.Reply) {
	if c.conn.gone {
		return
	}
	c.conn.srv.members.replied(c, r)
	c.code = r.Code
	c.complete(r.Kmsg)
}
