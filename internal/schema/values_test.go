package schema_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	codec "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/schema"
)

// Order has rules of many kinds, all of which JSON Schema can express.
type Order struct {
	ID       int64             `json:"id" validate:"required,min=1"`
	Customer Customer          `json:"customer"`
	Lines    []Line            `json:"lines" validate:"required,min=1,max=3,dive"`
	Labels   map[string]string `json:"labels" validate:"max=2,dive,keys,alpha,endkeys,required"`
	Status   string            `json:"status" validate:"oneof=open paid 'on hold'"`
	Paid     *bool             `json:"paid" validate:"omitempty"`
	At       time.Time         `json:"at" validate:"required"`
	Took     time.Duration     `json:"took" validate:"max=1m"`
	Note     string            `json:"note,omitempty" validate:"max=5"`
	Raw      []byte            `json:"raw"`
	Parent   *Order            `json:"parent"`
	Extra    any               `json:"extra"`
}

// Customer is part of an order.
type Customer struct {
	Name  string   `json:"name" validate:"required,max=4"`
	Email string   `json:"email" validate:"omitempty,email"`
	Code  *string  `json:"code" validate:"omitempty,len=2,alphanum"`
	Tags  []string `json:"tags,omitempty" validate:"unique,dive,min=1"`
	Score float64  `json:"score" validate:"gte=0,lt=1"`
}

// Line is part of an order.
type Line struct {
	SKU   string   `json:"sku" validate:"startswith=A-"`
	Count uint8    `json:"count" validate:"required,max=9"`
	Price *float32 `json:"price" validate:"required"`
	Flags [2]bool  `json:"flags"`
}

// random makes values from a small set that lie on both sides of the rules.
type random struct{ *rand.Rand }

var someTexts = []string{"", "a", "B2", "ab", "A-", "A-1", "open", "paid", "on hold", "ada@example.org", "äöü", "toolong"}

func (r random) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(someTexts[r.IntN(len(someTexts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 5, int64(time.Minute), int64(time.Minute) + 1, 1<<63 - 1}[r.IntN(7)])
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(12)))
	case reflect.Float64, reflect.Float32:
		v.SetFloat([]float64{0, 0.5, 0.1, 1, -0.5}[r.IntN(5)])
	case reflect.Pointer:
		if depth < 5 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(5), 5))
		for i := range v.Len() {
			r.fill(v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.fill(key, depth+1)
			r.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{"x", 1.5, nil, true}[1]))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if r.IntN(8) > 0 {
				v.Set(reflect.ValueOf(time.Unix(int64(r.IntN(1<<30)), int64(r.IntN(1000))).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			r.fill(v.Field(i), depth+1)
		}
	}
}

// better makes a value pass that random ones would seldom pass, but for what is left to chance.
func (o *Order) better(r random) {
	good := func(chance int) bool { return r.IntN(chance) > 0 }
	for ; o != nil; o = o.Parent {
		if good(20) {
			o.ID, o.Status, o.Note, o.At, o.Took, o.Labels = 7, "paid", "ok", time.Unix(1, 0).UTC(), time.Second, map[string]string{"a": "b"}
		}
		if good(20) {
			o.Customer.Name, o.Customer.Email, o.Customer.Score, o.Customer.Tags = "Ada", "", 0.5, []string{"a", "b"}
			o.Customer.Code = nil
		}
		if good(10) || len(o.Lines) == 0 {
			o.Lines = []Line{{SKU: "A-1", Count: uint8(r.IntN(11)), Price: new(float32)}}
		}
	}
}

// hasStatus reports whether the order and its parents have one of the values of "oneof", the only rule that outputs have.
func (o *Order) hasStatus() bool {
	for ; o != nil; o = o.Parent {
		if !slices.Contains([]string{"open", "paid", "on hold"}, o.Status) {
			return false
		}
	}
	return true
}

func TestAnOutputMayBreakTheRulesOfItsTag(t *testing.T) {
	for _, c := range verdicts {
		if strings.Contains(fmt.Sprint(c.typ), "oneof") {
			continue
		}
		out := schemaOf(t, c.typ, schema.Output)
		written := []string{string(must(codec.Codec.Append(nil, reflect.New(c.typ).Interface())))}
		for _, one := range strings.Fields(c.texts + " " + c.looser + " " + c.tighter) {
			document, whole := strings.CutPrefix(one, "=")
			if !whole {
				document = `{"f":` + one + `}`
			}
			if v := reflect.New(c.typ); codec.Codec.Decode([]byte(document), v.Interface()) == nil {
				written = append(written, string(must(codec.Codec.Append(nil, v.Interface()))))
			}
		}
		for _, text := range written {
			if !out.accepts(text) {
				t.Errorf("%v: the schema of the output refuses %s, which the codec writes\n%s", c.typ, text, out.text)
			}
		}
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

func TestWhatIsWrittenIsAcceptedExactlyWhenTheCheckerAcceptsIt(t *testing.T) {
	r := random{rand.New(rand.NewPCG(1, 2))}
	in, out := schemaOf(t, reflect.TypeFor[Order](), schema.Input), schemaOf(t, reflect.TypeFor[Order](), schema.Output)
	accepted, refused := 0, 0
	for range 800 {
		var order Order
		r.fill(reflect.ValueOf(&order).Elem(), 0)
		order.better(r)
		text, err := codec.Codec.Append(nil, &order)
		if err != nil {
			t.Fatal(err)
		}
		right := checkerAccepts(reflect.TypeFor[Order](), string(text))
		if got := in.accepts(string(text)); got != right {
			var again Order
			reason := fmt.Sprint(codec.Codec.Decode(text, &again), checker.Struct(&again))
			t.Fatalf("the checker says %v (%s), the schema of the input %v: %s\n%s", right, reason, got, text, in.text)
		}
		if right {
			accepted++
		} else {
			refused++
		}
		if !out.accepts(string(text)) && order.hasStatus() { // whether it keeps the other rules or breaks them
			t.Fatalf("the schema of the output refuses %s\n%s", text, out.text)
		}
	}
	if accepted < 80 || refused < 80 {
		t.Errorf("%d values were accepted and %d refused: too few of one kind to tell", accepted, refused)
	}
}

func TestWhatAnOutputAlwaysHasIsRequired(t *testing.T) {
	out := schemaOf(t, reflect.TypeFor[Address](), schema.Output)
	if out.accepts(`{}`) || !out.accepts(`{"street":"x"}`) {
		t.Error("a member that is always written is not required")
	}
}
