package shop

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

// User is a customer.
type User struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Email   string    `json:"email"`
	City    string    `json:"city"`
	Blocked bool      `json:"blocked"` // may not order
	Since   time.Time `json:"since"`
}

// GetUser is the input of users.get.
type GetUser struct {
	ID string `json:"id" validate:"required,startswith=u-,max=16"`
}

// ListUsers is the input of users.list. Without a city it lists all.
type ListUsers struct {
	City  string `json:"city" validate:"max=40"`
	Limit int    `json:"limit" validate:"gte=0,lte=100"` // 0 means 20
}

// RegisterUser is the input of users.register.
type RegisterUser struct {
	Name  string `json:"name" validate:"required,min=2,max=60"`
	Email string `json:"email" validate:"required,email,max=100"`
	City  string `json:"city" validate:"required,max=40"`
}

// BlockUser is the input of users.block.
type BlockUser struct {
	ID      string `json:"id" validate:"required,startswith=u-,max=16"`
	Blocked bool   `json:"blocked"`
}

// The errors of users, for errors.Is.
var (
	ErrUserNotFound = sabir.NewError(sabir.CodeNotFound, "UserNotFound", "no such user")
	ErrTooManyUsers = sabir.NewError(sabir.CodeFailedPrecondition, "TooManyUsers", "the demo keeps no more users")
)

const (
	seededUsers = 50
	maxUsers    = 10_000
)

// users keeps the customers in the order they registered: u-1 is the first.
type users struct {
	service *sabir.Service
	mu      sync.RWMutex
	list    []User
}

// newUsers makes the service users.
func newUsers() *sabir.Service {
	s := sabir.NewService("users", sabir.Doc("knows the customers"))
	u := &users{service: s, list: seedUsers()}
	known := &policy.Cache{MaxEntries: maxUsers}
	known.InvalidateOn(s, "user.changed", "users.get")
	sabir.Handle(s, "get", u.get, sabir.Doc("finds a user by id"), sabir.Idempotent(), sabir.Route("GET", "/users/{id}"),
		sabir.Use(policy.Cached{Cache: known, Keys: []string{"id"}, TTL: time.Minute}))
	sabir.Handle(s, "list", u.find, sabir.Doc("lists users, of one city or all"), sabir.Idempotent(), sabir.Route("GET", "/users"))
	sabir.Handle(s, "register", u.register, sabir.Doc("adds a user; emits user.registered"), sabir.Route("POST", "/users"))
	sabir.Handle(s, "block", u.block, sabir.Doc("blocks a user or lets him order again; emits user.changed"))
	return s
}

func (u *users) get(_ context.Context, in GetUser) (User, error) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	i, err := u.index(in.ID)
	if err != nil {
		return User{}, err
	}
	return u.list[i], nil
}

func (u *users) find(_ context.Context, in ListUsers) ([]User, error) {
	limit := in.Limit
	if limit == 0 {
		limit = 20
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	found := []User{}
	for _, user := range u.list {
		if len(found) == limit {
			break
		}
		if in.City == "" || user.City == in.City {
			found = append(found, user)
		}
	}
	return found, nil
}

func (u *users) register(ctx context.Context, in RegisterUser) (User, error) {
	user, err := u.add(in)
	if err != nil {
		return User{}, err
	}
	notify(ctx, u.service, "user.registered", user)
	return user, nil
}

func (u *users) add(in RegisterUser) (User, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.list) == maxUsers {
		return User{}, ErrTooManyUsers
	}
	user := User{ID: fmt.Sprintf("u-%d", len(u.list)+1), Name: in.Name, Email: in.Email, City: in.City, Since: time.Now().UTC()}
	u.list = append(u.list, user)
	return user, nil
}

func (u *users) block(ctx context.Context, in BlockUser) (User, error) {
	user, err := u.setBlocked(in)
	if err != nil {
		return User{}, err
	}
	notify(ctx, u.service, "user.changed", user)
	return user, nil
}

func (u *users) setBlocked(in BlockUser) (User, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i, err := u.index(in.ID)
	if err != nil {
		return User{}, err
	}
	u.list[i].Blocked = in.Blocked
	return u.list[i], nil
}

// index finds a user's place. The caller holds mu.
func (u *users) index(id string) (int, error) {
	n, ok := serial("u-", id)
	if !ok || n > int64(len(u.list)) {
		return 0, ErrUserNotFound.WithData(map[string]string{"id": id})
	}
	return int(n - 1), nil
}

// seedUsers makes the same users each time; every thirteenth is blocked.
func seedUsers() []User {
	first := []string{"Ada", "Bruno", "Chiara", "Dalila", "Elias", "Fatima", "Giulia", "Hamza", "Irene", "Jamal"}
	last := []string{"Marino", "Haddad", "Costa", "Pace", "Vidal"}
	cities := []string{"Algiers", "Genoa", "Livorno", "Marseille", "Tunis", "Valletta"}
	opened := time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)
	list := make([]User, seededUsers)
	for i := range list {
		given, family := first[i%len(first)], last[i/len(first)]
		list[i] = User{
			ID:      fmt.Sprintf("u-%d", i+1),
			Name:    given + " " + family,
			Email:   strings.ToLower(given + "." + family + "@example.com"),
			City:    cities[i%len(cities)],
			Blocked: (i+1)%13 == 0,
			Since:   opened.AddDate(0, 0, i),
		}
	}
	return list
}
