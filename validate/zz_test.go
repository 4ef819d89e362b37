package validate
import ("testing";"unsafe";"errors")
var zzSink any
func TestZZHeap(t *testing.T) {
	plan := mustCompile[tree](t, New())
	bad := nested(900)
	bad.Left.Left.Left.Name = "long"
	results := make(chan error)
	for range 100 {
		go func() {
			local := &tree{Name: "abc", ByName: map[string]*tree{"a": bad}}
			zzKeep(local)
			if err := plan.Check(unsafe.Pointer(local)); err == nil { results <- errors.New("x") } else { results <- nil }
		}()
	}
	for range 100 { if err := <-results; err != nil { t.Error(err) } }
}
func TestZZPassOnly(t *testing.T) {
	plan := mustCompile[tree](t, New())
	bad := nested(900)
	results := make(chan error)
	for range 100 {
		go func() {
			local := tree{Name: "abc", ByName: map[string]*tree{"a": bad}}
			results <- plan.Check(unsafe.Pointer(&local))
		}()
	}
	for range 100 { if err := <-results; err != nil { t.Error(err) } }
}
//go:noinline
func zzKeep(x any) { if never { zzSink = x } }
