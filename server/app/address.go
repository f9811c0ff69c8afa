package app

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// address is a flag's HOST:PORT.
type address struct {
	flag, host string
	port       int
}

func parseAddress(flag, text string) (address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return address{}, fmt.Errorf("%s %q: it takes HOST:PORT, as in %s 127.0.0.1:8080; port 0 takes a free one", flag, text, flag)
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return address{}, fmt.Errorf("%s %q: %q is no port; a number from 0 to 65535, where 0 takes a free one", flag, text, port)
	}
	return address{flag, host, n}, nil
}

// loopback tells whether only this machine reaches the address.
func (a address) loopback() bool {
	ip := net.ParseIP(a.host)
	return a.host == "localhost" || ip != nil && ip.IsLoopback()
}

// wildcard tells whether the address means all of the machine's interfaces.
func (a address) wildcard() bool {
	ip := net.ParseIP(a.host)
	return a.host == "" || ip != nil && ip.IsUnspecified()
}

// check keeps the lab to this machine unless remote says otherwise: what others can reach must be meant.
func (a address) check(remote bool) error {
	if !a.loopback() && !remote {
		return fmt.Errorf("%s %s can be reached by other machines, and it is for this machine alone unless you say otherwise; take 127.0.0.1, or add -remote if that is what you want", a.flag, a)
	}
	return nil
}

// plus is the address so many ports higher; port 0 stays 0.
func (a address) plus(n int) address {
	if a.port != 0 {
		a.port += n
	}
	return a
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// listen takes the port. An error names the flag and what to do.
func (a address) listen(whose string) (net.Listener, error) {
	socket, err := net.Listen("tcp", a.String())
	switch {
	case err == nil:
		return socket, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: port %d, for %s, is taken by another program; end that one, or choose another port with %s (0 takes a free one)", a.flag, a.port, whose, a.flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: port %d, for %s, may not be taken by this user; choose one above 1023", a.flag, a.port, whose)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: %s, for %s, is no address of this machine; 127.0.0.1 is", a.flag, a.host, whose)
	}
	return nil, fmt.Errorf("%s: cannot listen on %s for %s: %w", a.flag, a, whose, err)
}

// at is the address that a socket got: the host as it was asked for, with the real port.
func (a address) at(socket net.Listener) address {
	a.port = socket.Addr().(*net.TCPAddr).Port
	return a
}
