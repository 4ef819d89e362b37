"use strict";

// From here, so that both are what this folder's package.json says.
module.exports = { Hemera: require("nats-hemera"), nats: require("nats") };
