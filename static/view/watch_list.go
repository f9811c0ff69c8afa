package view

// Listing is what is asked of the list of groups.
type Listing struct {
	// States, Types and Coordinators to show, comma-separated; "" shows all.
	State, Type, Coordinator string
	// Sort is the order, one of Sorts; "" is the first of them: those in motion first.
	Sort string
	// TopPx is how far the list is scrolled, HighPx how high its window is; 0 where that is not known.
	TopPx, HighPx int
}

// listed is a list as it was asked for.
type listed struct{}
