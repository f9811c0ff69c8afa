package view

// words are all words of the page. Names of Kafka's protocol are not translated.
var words = map[string]Text{}
