import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { listen } from "./listen.ts";

Deno.test("listen: a socket that begins to listen, or may not", () => {
  const d = new Decoding(listen);
  d.event(12, "sockets/listen.listen", { began: 10, fd: 18 });
  d.event(22, "sockets/listen.listen", { began: 20, fd: 19, ret: -98 });
  assert.deepEqual(d.end(30), [
    '100/100 socket.listen "listen" 10–12 fd=18 errno=0',
    '100/100 socket.listen "listen" 20–22 fd=19 errno=98',
  ]);
});

Deno.test("listen: a connection that is accepted", () => {
  const d = new Decoding(listen);
  d.event(12, "sockets/listen.accept", { fd: 20 });
  assert.deepEqual(d.end(30), ['100/100 socket.accept "accept" 12 fd=20']);
});
