package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// The cost of hashing a password: 19 MiB and two passes, OWASP's recommendation for argon2id, some 20 to 40 ms.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	saltSize     = 16
	hashSize     = 32
)

// The most that a hash may demand, so that one from a table that others write cannot take the memory.
const (
	maxArgonMemory = 256 << 10 // KiB
	maxArgonTime   = 16
	maxPassword    = 1 << 10 // bytes
)

// HashPassword is a password's hash by argon2id (RFC 9106) with a random salt, in the PHC string format
// "$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>". A password has 1 to 1024 bytes.
func HashPassword(password string) (string, error) {
	if password == "" || len(password) > maxPassword {
		return "", fmt.Errorf("auth: a password of %d bytes: want 1 to %d", len(password), maxPassword)
	}
	salt := make([]byte, saltSize)
	rand.Read(salt)
	hash := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, hashSize)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(hash)), nil
}

// CheckPassword reports whether a password has the hash, one of [HashPassword] or of bcrypt. It takes some 20 ms or more by
// intent, and the memory that the hash sets, at most 256 MiB.
func CheckPassword(hash, password string) bool {
	if password == "" || len(password) > maxPassword {
		return false
	}
	if strings.HasPrefix(hash, "$2") {
		return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
	}
	h, err := parseHash(hash)
	if err != nil {
		return false
	}
	given := argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.hash)))
	return subtle.ConstantTimeCompare(given, h.hash) == 1
}

type passwordHash struct {
	memory, time uint32
	threads      uint8
	salt, hash   []byte
}

func parseHash(text string) (h passwordHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, errors.New("auth: no hash of argon2id or bcrypt")
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads); err != nil || n != 3 {
		return h, errors.New("auth: the hash has no parameters")
	}
	if h.memory > maxArgonMemory || h.time < 1 || h.time > maxArgonTime || h.threads < 1 || h.threads > 16 {
		return h, errors.New("auth: the hash demands too much")
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	hash, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if errors.Join(err1, err2) != nil || len(salt) < 8 || len(salt) > 64 || len(hash) < 16 || len(hash) > 64 {
		return h, errors.New("auth: the hash has no salt or no hash")
	}
	h.salt, h.hash = salt, hash
	return h, nil
}

// User is a user that signs in with a password.
type User struct {
	Hash  string // of HashPassword
	Roles []string
}

// Users is a check for [Basic], or for an action that signs in, by a fixed list: users by their names. It takes as long
// for a name that is not in it.
func Users(users map[string]User) func(ctx context.Context, name, password string) (*Principal, error) {
	nobody := sync.OnceValue(func() string {
		hash, err := HashPassword("nobody's")
		if err != nil {
			panic(err) // it is a sound password
		}
		return hash
	})
	return func(_ context.Context, name, password string) (*Principal, error) {
		user, known := users[name]
		if !known {
			user.Hash = nobody()
		}
		if !CheckPassword(user.Hash, password) || !known {
			return nil, nil
		}
		return &Principal{Subject: name, Roles: user.Roles}, nil
	}
}
