// Loaded before a server that listens on every interface and cannot be told
// otherwise: here it listens on loopback.
const { Server } = require("node:net");

const { listen } = Server.prototype;
Server.prototype.listen = function (first, ...rest) {
  const port = typeof first === "object" && first !== null ? first.port : first;
  const done = rest.find((arg) => typeof arg === "function");
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, done);
};
