package workers

import "sync"

// Queue runs tasks in the order in which they come, as a [Pool] does, but wakes one goroutine at a time: that takes the tasks which are there, one after
// the other, and has the next one woken only while some are left. So many short tasks that come at once are run by one or two goroutines, whose stacks are in the
// processor's caches, and each that waits has a goroutine behind it that goes on. The zero value is ready to use, and its methods may be used by many goroutines at once.
// A task must not panic; one that ends its goroutine (runtime.Goexit) ends that one alone.
type Queue[T Task] struct {
	mu     sync.Mutex
	tasks  []T
	next   int  // of tasks: those before it are taken
	waking bool // a goroutine was woken, and has not taken a task yet
	pool   Pool[*Queue[T]]
}

// Add has a goroutine run the task, and does not wait for it. There is always one: a task that waits holds up no other.
func (q *Queue[T]) Add(task T) {
	q.mu.Lock()
	if len(q.tasks) == cap(q.tasks) && q.next > len(q.tasks)/2 { // the place of those that are taken is used again
		left := copy(q.tasks, q.tasks[q.next:])
		clear(q.tasks[left:])
		q.tasks, q.next = q.tasks[:left], 0
	}
	q.tasks = append(q.tasks, task)
	wake := !q.waking
	q.waking = true
	q.mu.Unlock()
	if wake {
		q.pool.Run(q)
	}
}

// Run implements [Task] for the goroutines of the queue.
func (q *Queue[T]) Run() {
	q.mu.Lock()
	q.waking = false
	for q.next < len(q.tasks) {
		task := q.take()
		// Whoever takes a task leaves the others to a goroutine that is awake, since it may be long before it comes back.
		wake := q.next < len(q.tasks) && !q.waking
		q.waking = q.waking || wake
		q.mu.Unlock()
		if wake {
			q.pool.Run(q)
		}
		task.Run()
		q.mu.Lock()
	}
	q.mu.Unlock()
}

// take runs under mu.
func (q *Queue[T]) take() T {
	var none T
	task := q.tasks[q.next]
	q.tasks[q.next] = none
	if q.next++; q.next == len(q.tasks) {
		q.tasks, q.next = q.tasks[:0], 0
	}
	return task
}

// End ends the goroutines that are idle, and from now on each when there are no tasks. Tasks may still be added.
func (q *Queue[T]) End() { q.pool.End() }
