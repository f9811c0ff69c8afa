package pages

import (
	"errors"
	"net/mail"
	"net/url"
	"strings"
)

// Feedback is the start of a link that takes feedback, to whose end a page appends the moment's own link. It is made of a mail
// address, or of an https address that ends with the parameter that takes the text, as in
// "https://example.org/lab/issues/new?body=". "" is a letter without an address.
func Feedback(text string) (link string, err error) {
	if text == "" {
		return "", nil
	}
	if who, err := mail.ParseAddress(text); err == nil && who.Name == "" && who.Address == text {
		return "mailto:" + url.PathEscape(text) + "?subject=GroupLab&body=", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || !strings.HasSuffix(u.RawQuery, "=") {
		return "", errors.New("it takes a mail address, as lab@example.org, or an https address whose last parameter takes the text, as https://example.org/new?body=")
	}
	return u.String(), nil
}

// TakesFeedback gives all pages the link that Feedback made.
func (b *Book) TakesFeedback(link string) { b.feedback = link }
