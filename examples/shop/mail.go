package shop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
)

// Mail is an email that was sent, or would have been if this were not a demo.
type Mail struct {
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Sent    time.Time `json:"sent"`
}

// ListMails is the input of mail.outbox.
type ListMails struct {
	Limit int `json:"limit" validate:"gte=0,lte=100"` // 0 means 10
}

const keptMails = 100

// mail writes to customers about their orders. Its handlers are queued, so an order does not wait for its email.
type mail struct {
	getUser sabir.Func[GetUser, User]
	sent    atomic.Int64

	mu   sync.Mutex
	last []Mail // the latest is at the end
}

// newMail makes the service mail.
func newMail() (*mail, *sabir.Service) {
	s := sabir.NewService("mail", sabir.Doc("writes to customers about their orders"), sabir.DependsOn(sabir.ServiceName("users")))
	m := &mail{getUser: sabir.Bind[GetUser, User](s, "users.get")}
	sabir.On(s, "order.created", m.confirm, sabir.Delivery{Buffer: 1000})
	sabir.On(s, "order.rejected", m.regret, sabir.Delivery{Buffer: 1000})
	sabir.Handle(s, "outbox", m.outbox, sabir.Doc("lists the latest mails"), sabir.Idempotent())
	return m, s
}

func (m *mail) confirm(ctx context.Context, order Order) error {
	return m.write(ctx, order.UserID, fmt.Sprintf("Your order %s over %.2f EUR", order.ID, float64(order.TotalCents)/100))
}

func (m *mail) regret(ctx context.Context, rejected OrderRejected) error {
	return m.write(ctx, rejected.UserID, "We could not take your order ("+rejected.Reason+")")
}

func (m *mail) write(ctx context.Context, userID, subject string) error {
	user, err := m.getUser(ctx, GetUser{userID})
	if errors.Is(err, ErrUserNotFound) {
		return nil // no recipient
	}
	if err != nil {
		return err
	}
	m.send(Mail{To: user.Email, Subject: subject, Sent: time.Now().UTC()})
	return nil
}

// send stands for a real mail server.
func (m *mail) send(letter Mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.last) == keptMails {
		m.last = append(m.last[:0], m.last[1:]...)
	}
	m.last = append(m.last, letter)
	m.sent.Add(1)
}

func (m *mail) outbox(_ context.Context, in ListMails) ([]Mail, error) {
	limit := in.Limit
	if limit == 0 {
		limit = 10
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := []Mail{}
	for i := len(m.last) - 1; i >= 0 && len(found) < limit; i-- {
		found = append(found, m.last[i])
	}
	return found, nil
}
