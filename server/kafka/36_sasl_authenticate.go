package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// SaslAuthenticate (36), v0 to v2 (KIP-152): one token of the mechanism that SaslHandshake chose.
//
//   - v1: how long the session lives (KIP-368); for ever, here
//   - v2: flexible (KIP-482)
var saslAuthenticateAPI = api{key: 36, name: "SaslAuthenticate", min: 0, max: 2, keepsBytes: true, run: saslAuthenticate}

func saslAuthenticate(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.SASLAuthenticateRequest)
	answer := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	answer.SASLAuthBytes = []byte{}
	if c.conn.known() {
		answer.ErrorCode, answer.ErrorMessage = kerr.IllegalSaslState.Code, kmsg.StringPtr("the client is known already, or the listener asks nobody who they are")
		c.code = answer.ErrorCode
		c.complete(answer)
		return
	}
	token, err := c.conn.step(request.SASLAuthBytes)
	if err != nil {
		answer.ErrorCode, answer.ErrorMessage = kerr.SaslAuthenticationFailed.Code, words(err.Error())
		c.code, c.last = answer.ErrorCode, err.Error()
	} else {
		answer.SASLAuthBytes = token
	}
	c.complete(answer)
}

// saslToken runs a bare token, which is what follows SaslHandshake v0. There are no words for a refusal: the connection
// ends.
var saslToken = api{key: 36, name: "SASL token", run: func(_ *Server, c *call, _ int64) {
	token, err := c.conn.step(c.token)
	if err != nil {
		c.last = err.Error()
		c.complete(nil)
		return
	}
	c.token, c.bare = token, true
	c.complete(nil)
}}
