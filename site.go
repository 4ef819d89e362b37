package sabir

import "runtime"

// site is where in the program something was declared: a place in its code, whose line is looked up when it is asked for.
type site uintptr

// callSite is where the exported function that calls this was called.
func callSite() site {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return site(pc[0])
}

// String is the file, with its folder, and the line.
func (s site) String() string {
	frame, _ := runtime.CallersFrames([]uintptr{uintptr(s)}).Next()
	if frame.File == "" {
		return "?"
	}
	return shortPath(frame.File) + ":" + itoa(frame.Line)
}
