"""A client of the link protocol, written from docs/protocol.md alone, with the standard library of Python 3.

    python3 client.py HOST PORT KEY [NODE-KEY OTHERS-PUBLIC-KEY]

It joins the node that listens there as node "python" of cluster "c", calls the action "shop.buy" with the three bytes of the page's
example, prints the answer's bytes in hexadecimal, and takes leave. With a node key it proves its id, and wants a proof by the
other public key, in hexadecimal, of the node. It is for tests: its arithmetic takes no care of timing.
"""
import hashlib
import hmac
import json
import os
import socket
import struct
import sys

# --- X25519, RFC 7748 ---
P = 2**255 - 19


def x25519(k, u):
    k = bytearray(k)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    x1 = int.from_bytes(u, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in range(254, -1, -1):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb = a * a % P, b * b % P
        e, da, cb = aa - bb, d * a % P, c * b % P
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


# --- ChaCha20-Poly1305, RFC 8439 ---
def chacha_block(key, counter, nonce):
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce)]
    s = list(start)

    def quarter(a, b, c, d):
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = s[x] + s[y] & 0xFFFFFFFF
            v = s[z] ^ s[x]
            s[z] = (v << n | v >> 32 - n) & 0xFFFFFFFF

    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(a, b, c, d)
    return struct.pack("<16I", *(a + b & 0xFFFFFFFF for a, b in zip(s, start)))


def chacha(key, nonce, text):
    out = b""
    for i in range(0, len(text), 64):
        out += bytes(a ^ b for a, b in zip(text[i:i + 64], chacha_block(key, 1 + i // 64, nonce)))
    return out


def tag(key, nonce, sealed, ad):
    one_time = chacha_block(key, 0, nonce)
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(one_time[16:32], "little")
    data = ad + bytes(-len(ad) % 16) + sealed + bytes(-len(sealed) % 16) + struct.pack("<QQ", len(ad), len(sealed))
    h = 0
    for i in range(0, len(data), 16):
        h = (h + int.from_bytes(data[i:i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return (h + s & (1 << 128) - 1).to_bytes(16, "little")


def seal(key, number, text, ad=b""):
    nonce = struct.pack("<IQ", 0, number)
    sealed = chacha(key, nonce, text)
    return sealed + tag(key, nonce, sealed, ad)


def unseal(key, number, data, ad=b""):
    nonce = struct.pack("<IQ", 0, number)
    if len(data) < 16 or not hmac.compare_digest(tag(key, nonce, data[:-16], ad), data[-16:]):
        raise ValueError("it was not sealed by the other side")
    return chacha(key, nonce, data[:-16])


# --- Noise_NNpsk0_25519_ChaChaPoly_SHA256, the initiator ---
def sha256(data):
    return hashlib.sha256(data).digest()


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def hkdf(chaining, material, count):
    temp, out, last = mac(chaining, material), [], b""
    for i in range(count):
        last = mac(temp, last + bytes([i + 1]))
        out.append(last)
    return out


class Noise:
    def __init__(self, psk, prologue):
        name = b"Noise_NNpsk0_25519_ChaChaPoly_SHA256"
        self.h = sha256(name) if len(name) > 32 else name.ljust(32, b"\0")
        self.ck, self.k, self.n, self.psk = self.h, None, 0, psk
        self.mix_hash(prologue)

    def mix_hash(self, data):
        self.h = sha256(self.h + data)

    def mix_key(self, material):
        self.ck, self.k = hkdf(self.ck, material, 2)
        self.n = 0

    def first(self, payload_of):
        self.ck, temp, self.k = hkdf(self.ck, self.psk, 3)
        self.mix_hash(temp)
        self.private = os.urandom(32)
        e = x25519(self.private, (9).to_bytes(32, "little"))
        self.mix_hash(e)
        self.mix_key(e)
        sealed = seal(self.k, 0, payload_of(e), self.h)
        self.mix_hash(sealed)
        return e + sealed

    def second(self, message):
        e = message[:32]
        self.mix_hash(e)
        self.mix_key(e)
        self.mix_key(x25519(self.private, e))
        return unseal(self.k, 0, message[32:], self.h)

    def split(self):
        return hkdf(self.ck, b"", 2)


# --- Ed25519, RFC 8032 ---
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def recover(y, sign):
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - xx) % P:
        raise ValueError("no point of the curve")
    return x if x & 1 == sign else P - x


def add(p, q):
    (x1, y1, z1), (x2, y2, z2) = p, q
    zz, xy = z1 * z2 % P, D * x1 * x2 * y1 * y2 % P
    f, g = zz * zz - xy, zz * zz + xy
    return zz * f * (x1 * y2 + y1 * x2) % P, zz * g * (y1 * y2 + x1 * x2) % P, f * g % P


def times(k, p):
    q = 0, 1, 1
    for bit in bin(k)[2:]:
        q = add(q, q)
        if bit == "1":
            q = add(q, p)
    return q


def compress(p):
    x, y, z = p
    inverse = pow(z, P - 2, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


def decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    return recover(y, sign), y, 1


BASE = recover(4 * pow(5, P - 2, P) % P, 0), 4 * pow(5, P - 2, P) % P, 1


def number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def sign(seed, text):
    h = hashlib.sha512(seed).digest()
    a = int.from_bytes(h[:32], "little") & (1 << 254) - 8 | 1 << 254
    public = compress(times(a, BASE))
    r = number(h[32:], text) % L
    point = compress(times(r, BASE))
    return public, point + ((r + number(point, public, text) * a) % L).to_bytes(32, "little")


def check(public, signature, text):
    s = int.from_bytes(signature[32:], "little")
    right = add(decompress(signature[:32]), times(number(signature[:32], public, text) % L, decompress(public)))
    if s >= L or compress(times(s, BASE)) != compress(right):
        raise ValueError("the signature is not good")


def to_sign(role, node, tie):
    return b"sabir link " + role + b" 1\0" + node.encode() + b"\0" + tie


# --- The link ---
def read(conn, size):
    data = b""
    while len(data) < size:
        part = conn.recv(size - len(data))
        if not part:
            raise EOFError("the node closed the connection")
        data += part
    return data


def message(kind, body):
    return struct.pack("<BI", kind, len(body)) + body


def split_messages(data):
    found = []
    while data:
        kind, size = struct.unpack("<BI", data[:5])
        found.append((kind, data[5:5 + size]))
        data = data[5 + size:]
    return found


def read_message(conn, want):
    kind, size = struct.unpack("<BI", read(conn, 5))
    body = read(conn, size)
    if kind == 4:
        raise ValueError("refused: reason %d, %s" % (body[0], body[1:].decode()))
    if kind != want:
        raise ValueError("message of kind %d" % kind)
    return body


class Link:
    def __init__(self, host, port, key, node_key=None, other=None):
        self.conn = conn = socket.create_connection((host, int(port)))
        keyed, dialled = 1, 4
        own = b"SABIR\n" + bytes([3, 3, keyed | dialled]) + bytes(7) + os.urandom(32)
        conn.sendall(own)
        theirs = read(conn, 48)
        if theirs[:6] != b"SABIR\n" or not theirs[6] <= 3 <= theirs[7] or not theirs[8] & keyed:
            raise ValueError("the node speaks versions %d to %d, keyed %d" % (theirs[6], theirs[7], theirs[8] & keyed))
        limits = {"message": 1 << 20, "calls": 16, "streams": 16, "window": 65536, "routes": 16, "schemas": 16, "names": 16}
        hello = {"node": "python", "cluster": "c", "purpose": "link", "features": [], "limits": limits}
        prologue = own + theirs + bytes(32) + bytes([1, 0])
        noise = Noise(mac(key, b"sabir link 3"), prologue)

        def payload(e):
            text = message(1, json.dumps(hello).encode())
            if node_key:
                public, signature = sign(mac(node_key, b"sabir node key 1"), to_sign(b"dialler", "python", sha256(prologue + e)))
                text += message(5, public + signature)
            return text

        first = noise.first(payload)
        conn.sendall(message(2, bytes([1, 1]) + struct.pack("<H", len(first)) + first))
        reply = read_message(conn, 2)
        messages = split_messages(noise.second(reply[1:]))
        if messages[0][0] == 4:
            raise ValueError("refused: %s" % messages[0][1][1:].decode())
        self.peer = json.loads(messages[0][1])
        assert messages[1] == (3, b""), "no ok"
        if other:
            kind, proof = messages[2]
            assert kind == 5 and proof[:32] == other, "no proof"
            check(other, proof[32:], to_sign(b"acceptor", self.peer["node"], sha256(prologue + first)))
        (self.out, self.into), self.sent, self.received, self.text = noise.split(), 0, 0, b""
        conn.sendall(message(2, self.sealed(message(3, b""))))

    def sealed(self, text):
        if self.sent and self.sent % 65536 == 0:
            self.out = seal(self.out, 2**64 - 1, bytes(32))[:32]
        self.sent += 1
        return seal(self.out, self.sent - 1, text)

    def send(self, frames):
        record = self.sealed(frames)
        self.conn.sendall(struct.pack("<I", len(record)) + record)

    def frame(self):
        while len(self.text) < 10 or len(self.text) < 10 + struct.unpack("<I", self.text[:4])[0]:
            size, = struct.unpack("<I", read(self.conn, 4))
            if self.received and self.received % 65536 == 0:
                self.into = seal(self.into, 2**64 - 1, bytes(32))[:32]
            self.text += unseal(self.into, self.received, read(self.conn, size))
            self.received += 1
        size, number, kind, flags = struct.unpack("<IIBB", self.text[:10])
        body, self.text = self.text[10:10 + size], self.text[10 + size:]
        return number, kind, flags, body


def main():
    host, port, key = sys.argv[1:4]
    proofs = [sys.argv[4].encode(), bytes.fromhex(sys.argv[5])] if len(sys.argv) > 4 else []
    link = Link(host, port, key.encode(), *proofs)
    link.send(bytes.fromhex("12000000" "00000000" "0f" "00" "01010873686f702e627579066e6174697665"))
    link.send(bytes.fromhex("05000000" "00001000" "01" "00" "0100026869"))
    while True:
        number, kind, flags, body = link.frame()
        if kind == 2:
            print(link.peer["node"], body.hex())
            break
        if kind == 11:  # ping: a pong brings its 8 bytes back
            link.send(struct.pack("<IIBB", 20, 0, 12, 0) + body[:8] + bytes(12))
    link.send(struct.pack("<IIBB", 0, 0, 13, 0))  # goaway
    while link.frame()[1] != 13:
        pass


main()
