'use strict';

// What all servers of Node have in common: the address they are told, and what updateUser does.

const [host, port] = process.argv[2].split(':');
const day = 24 * 60 * 60 * 1000;

/** The user with its date, which came as a text or as a Date, moved on by a day. */
function updated(user) {
  return { ...user, lastUpdate: new Date(new Date(user.lastUpdate).getTime() + day) };
}

module.exports = { host, port: Number(port), updated, world: { hello: 'world' } };
