package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// SaslHandshake (17), v0 and v1 (KIP-43, KIP-152): the client names a mechanism and is told of all that there are, also when
// it chose well, since kafkajs takes an empty list for a refusal.
//
//   - v0: what follows are bare tokens after their length, without any header, until the client is known
//   - v1: what follows are SaslAuthenticate requests
//
// librdkafka before 2.3 looks for exactly v0.
var saslHandshakeAPI = api{key: 17, name: "SaslHandshake", min: 0, max: 1, run: saslHandshake}

func saslHandshake(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.SASLHandshakeRequest)
	answer := request.ResponseKind().(*kmsg.SASLHandshakeResponse)
	answer.SupportedMechanisms = []string{}
	if c.conn.known() {
		answer.ErrorCode, c.code = kerr.IllegalSaslState.Code, kerr.IllegalSaslState.Code
		c.complete(answer)
		return
	}
	answer.SupportedMechanisms = mechanisms
	if c.conn.exchange = s.cfg.Users.begin(request.Mechanism); c.conn.exchange == nil {
		answer.ErrorCode, c.code = kerr.UnsupportedSaslMechanism.Code, kerr.UnsupportedSaslMechanism.Code
		c.last = "there is no SASL mechanism " + request.Mechanism
	}
	c.complete(answer)
}
