// Package seal keeps what nodes send each other from those who have no key of their cluster.
//
//	message, offer, err := keys.Offer(rand.Reader, seal.Own(), prologue, payload)    // the side that dials
//	answer, payload, err := keys.Answer(rand.Reader, seal.Own(), prologue, message) // the side that accepts
//	message, channel, err := answer.Reply(payload)
//	payload, channel, err := offer.Finish(message)
//
// is the handshake Noise_NNpsk0 of the Noise protocol framework (https://noiseprotocol.org, revision 34), by
// github.com/flynn/noise: the cluster key proves each side to the other, and Diffie-Hellman keys that are made for it alone
// keep what follows secret from those who learn the cluster key later. A [Channel] has what follows: one key for each
// direction, numbers that are never used twice, and keys that are replaced as the numbers grow.
//
// [Keys.Broadcast] is for messages to all nodes, which have no handshake.
package seal
