// Written by sabir import dubbo; it is yours to change.

// Package depot has the types and contracts of com.depot.api.DepotService of Dubbo.
//
// Note: com.depot.api.Shape is any: it takes and gives pointers to its classes, which are registered.
//
// Note: java.util.Optional is any, since Hessian has no form for it that is known here.
//
// Note: in arrays, lists and maps, a null number, boolean or time is the zero value, and goes back as that: put a * before the type where there are nulls.
//
// Note: in lists and maps, Java gets an ArrayList or HashMap for each Set<Integer>.
//
// Note: com.depot.api.Page is generic, so it is written as a map: Java makes a Page of it where a method or a field has this class, but not in lists.
package depot

import (
	"math/big"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/codec/hessian"
)

// DepotServiceMaybeInput has the arguments of Integer maybe(Integer, Boolean).
type DepotServiceMaybeInput struct {
	Number   *int32 `json:"number" dubbo:"1"`
	Negative *bool  `json:"negative" dubbo:"2"`
}

// DepotServiceReadInput has the arguments of T read(K).
type DepotServiceReadInput struct {
	Key *int64 `json:"key" dubbo:"1"`
}

// DepotServiceSearchInput has the arguments of Page<Item> search(String, Page<Item>).
type DepotServiceSearchInput struct {
	Text string       `json:"text" dubbo:"1"`
	Like *Page[*Item] `json:"like" dubbo:"2"`
}

// DepotServiceShiftInput has the arguments of LocalDateTime shift(LocalDateTime, Duration).
type DepotServiceShiftInput struct {
	At *LocalDateTime `json:"at" dubbo:"1"`
	By *Duration      `json:"by" dubbo:"2"`
}

// DepotServiceSortInput has the arguments of Map<Kind, Set<Integer>> sort(Map<Kind, Set<Integer>>, Map<Long, String>).
type DepotServiceSortInput struct {
	Numbers map[Kind][]int32 `json:"numbers" dubbo:"1"`
	Names   map[int64]string `json:"names" dubbo:"2"`
}

// DepotServiceSumsInput has the arguments of long[] sums(int[], String[]).
type DepotServiceSumsInput struct {
	First  []int32  `json:"first" dubbo:"1"`
	Second []string `json:"second" dubbo:"2"`
}

// DepotServiceTakeInput has the arguments of void take(String, int).
type DepotServiceTakeInput struct {
	Name   string `json:"name" dubbo:"1"`
	Amount int32  `json:"amount" dubbo:"2"`
}

// ErrNoneLeft is the exception com.depot.api.NoneLeftException.
var ErrNoneLeft = sabir.NewError(sabir.CodeUnknown, "NoneLeft", "NoneLeftException")

// DepotService is the table of com.depot.api.DepotService, which is the service depot here, for Serve, References and Discover of dubbo.Config.
func DepotService() dubbo.Interface {
	return dubbo.Interface{
		Name: "com.depot.api.DepotService", Service: "depot", Version: "1.0.0",
		Methods: []dubbo.Method{
			{Name: "get", Action: "getString", Parameters: []string{"java.lang.String"}},
			{Name: "get", Action: "getLong", Parameters: []string{"long"}},
			{Name: "grow", Parameters: []string{"java.util.List"}},
			{Name: "hint", Parameters: []string{}},
			{Name: "maybe", Parameters: []string{"java.lang.Integer", "java.lang.Boolean"}},
			{Name: "measure", Parameters: []string{"com.depot.api.Item$Size"}},
			{Name: "put", Parameters: []string{"com.depot.api.Item"}},
			{Name: "read", Parameters: []string{"java.lang.Object"}},
			{Name: "search", Parameters: []string{"java.lang.String", "com.depot.api.Page"}},
			{Name: "shift", Parameters: []string{"java.time.LocalDateTime", "java.time.Duration"}},
			{Name: "sort", Parameters: []string{"java.util.Map", "java.util.Map"}},
			{Name: "sums", Parameters: []string{"int[]", "java.lang.String[]"}},
			{Name: "take", Parameters: []string{"java.lang.String", "int"}},
		},
		Throws: map[string]string{
			"NoneLeft": "com.depot.api.NoneLeftException",
		},
	}
}

// DepotServiceGetString calls String get(String) of com.depot.api.DepotService.
var DepotServiceGetString = sabir.NewAction[string, string]("depot.getString")

// DepotServiceGetLong calls String get(long) of com.depot.api.DepotService.
var DepotServiceGetLong = sabir.NewAction[int64, string]("depot.getLong")

// DepotServiceGrow calls List<Shape> grow(List<Shape>) of com.depot.api.DepotService.
var DepotServiceGrow = sabir.NewAction[[]any, []any]("depot.grow")

// DepotServiceHint calls Optional<String> hint() of com.depot.api.DepotService.
var DepotServiceHint = sabir.NewAction[sabir.Empty, any]("depot.hint")

// DepotServiceMaybe calls Integer maybe(Integer, Boolean) of com.depot.api.DepotService.
var DepotServiceMaybe = sabir.NewAction[DepotServiceMaybeInput, *int32]("depot.maybe")

// DepotServiceMeasure calls CompletableFuture<Item.Size> measure(Item.Size) of com.depot.api.DepotService.
var DepotServiceMeasure = sabir.NewAction[ItemSize, *ItemSize]("depot.measure")

// DepotServicePut calls Item put(Item) of com.depot.api.DepotService.
var DepotServicePut = sabir.NewAction[Item, *Item]("depot.put")

// DepotServiceRead calls T read(K) of com.depot.api.DepotService.
var DepotServiceRead = sabir.NewAction[DepotServiceReadInput, *Item]("depot.read")

// DepotServiceSearch calls Page<Item> search(String, Page<Item>) of com.depot.api.DepotService.
var DepotServiceSearch = sabir.NewAction[DepotServiceSearchInput, *Page[*Item]]("depot.search")

// DepotServiceShift calls LocalDateTime shift(LocalDateTime, Duration) of com.depot.api.DepotService.
var DepotServiceShift = sabir.NewAction[DepotServiceShiftInput, *LocalDateTime]("depot.shift")

// DepotServiceSort calls Map<Kind, Set<Integer>> sort(Map<Kind, Set<Integer>>, Map<Long, String>) of com.depot.api.DepotService.
var DepotServiceSort = sabir.NewAction[DepotServiceSortInput, map[Kind][]int32]("depot.sort")

// DepotServiceSums calls long[] sums(int[], String[]) of com.depot.api.DepotService.
var DepotServiceSums = sabir.NewAction[DepotServiceSumsInput, []int64]("depot.sums")

// DepotServiceTake calls void take(String, int) of com.depot.api.DepotService.
var DepotServiceTake = sabir.NewAction[DepotServiceTakeInput, sabir.Empty]("depot.take")

// ShapeCircle is com.depot.api.Shape$Circle.
type ShapeCircle struct {
	Radius float64 `json:"radius"`
	Name   string  `json:"name"`
}

// ShapeSquare is com.depot.api.Shape$Square.
type ShapeSquare struct {
	Side int32  `json:"side"`
	Name string `json:"name"`
}

// ItemSize is com.depot.api.Item$Size.
type ItemSize struct {
	Width  float64  `json:"width"`
	Height *float32 `json:"height"`
}

// Item is com.depot.api.Item.
type Item struct {
	Name    string          `json:"name"`
	Price   hessian.Decimal `json:"price"`
	Count   *big.Int        `json:"count"`
	Kind    Kind            `json:"kind"`
	Size    *ItemSize       `json:"size"`
	Tags    []string        `json:"tags"`
	Left    *int32          `json:"left"`
	Sold    *time.Time      `json:"sold"`
	Parent  *Item           `json:"parent"`
	Picture []byte          `json:"picture"`
	Grade   string          `json:"grade"`
	ID      *int64          `json:"id"`
	Since   *LocalDate      `json:"since"`
}

// Page is com.depot.api.Page. It is written as a map, which Java makes one of where a method or a field has this class.
type Page[T any] struct {
	Items []T   `json:"items"`
	First T     `json:"first"`
	Total int32 `json:"total"`
}

// LocalDateTime is java.time.LocalDateTime, as Dubbo's Hessian has it.
type LocalDateTime struct {
	Date *LocalDate `json:"date"`
	Time *LocalTime `json:"time"`
}

// Duration is java.time.Duration, as Dubbo's Hessian has it.
type Duration struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

// Kind is com.depot.api.Kind.
type Kind string

// The constants of com.depot.api.Kind.
const (
	KindSmall     Kind = "SMALL"
	KindVeryLarge Kind = "VERY_LARGE"
)

// LocalDate is java.time.LocalDate, as Dubbo's Hessian has it.
type LocalDate struct {
	Year  int32 `json:"year"`
	Month int32 `json:"month"`
	Day   int32 `json:"day"`
}

// LocalTime is java.time.LocalTime, as Dubbo's Hessian has it.
type LocalTime struct {
	Hour   int32 `json:"hour"`
	Minute int32 `json:"minute"`
	Second int32 `json:"second"`
	Nano   int32 `json:"nano"`
}

func init() {
	hessian.Register[ShapeCircle]("com.depot.api.Shape$Circle")
	hessian.Register[ShapeSquare]("com.depot.api.Shape$Square")
	hessian.Register[ItemSize]("com.depot.api.Item$Size")
	hessian.Register[Item]("com.depot.api.Item")
	hessian.Register[LocalDateTime]("com.alibaba.com.caucho.hessian.io.java8.LocalDateTimeHandle")
	hessian.Register[Duration]("com.alibaba.com.caucho.hessian.io.java8.DurationHandle")
	hessian.Register[Kind]("com.depot.api.Kind")
	hessian.Register[LocalDate]("com.alibaba.com.caucho.hessian.io.java8.LocalDateHandle")
	hessian.Register[LocalTime]("com.alibaba.com.caucho.hessian.io.java8.LocalTimeHandle")
}
