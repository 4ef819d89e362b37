package admission

// StreamWindow is the number of values that may be under way in each direction of a stream before Send waits. A gateway that
// lends buffers to the values of a stream needs that many, and those in its own hands.
const StreamWindow = 16
