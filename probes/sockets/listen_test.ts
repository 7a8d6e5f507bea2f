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

Deno.test("listen: a socket of a network has a port, and one that processes of a machine share has none", () => {
  const d = new Decoding(listen);
  d.event(12, "sockets/listen.bound", { family: 1 });
  d.event(12, "sockets/listen.listen", { began: 10, fd: 18 });
  for (const [at, family] of [[20, 2], [30, 10]] as const) {
    d.event(at + 1, "sockets/listen.bound", { family, port: 8080 });
    // Meanwhile another thread's.
    d.event(at + 1, "sockets/listen.listen", { began: at, fd: 5 }, "100/101");
    d.event(at + 2, "sockets/listen.listen", { began: at, fd: 19 });
  }
  d.event(42, "sockets/listen.listen", { began: 40, fd: 20 });
  assert.deepEqual(d.end(50), [
    '100/100 socket.listen "listen" 10–12 fd=18 errno=0',
    '100/101 socket.listen "listen" 20–21 fd=5 errno=0',
    '100/100 socket.listen "listen" 20–22 fd=19 errno=0 port=8080',
    '100/101 socket.listen "listen" 30–31 fd=5 errno=0',
    '100/100 socket.listen "listen" 30–32 fd=19 errno=0 port=8080',
    '100/100 socket.listen "listen" 40–42 fd=20 errno=0',
  ]);
});

Deno.test("listen: a port is not that of the thread's next socket where the line of its own was lost", () => {
  const d = new Decoding(listen);
  d.event(11, "sockets/listen.bound", { family: 2, port: 8080 });
  d.event(21, "sockets/listen.bound", { family: 1 });
  d.event(22, "sockets/listen.listen", { began: 20, fd: 18 });
  d.event(31, "sockets/listen.bound", { family: 2, port: 8080 });
  d.event(42, "sockets/listen.listen", { began: 40, fd: 19, ret: -98 });
  assert.deepEqual(d.end(50), [
    '100/100 socket.listen "listen" 20–22 fd=18 errno=0',
    '100/100 socket.listen "listen" 40–42 fd=19 errno=98',
  ]);
});

Deno.test("listen: a connection that is accepted", () => {
  const d = new Decoding(listen);
  d.event(12, "sockets/listen.accept", { fd: 20 });
  assert.deepEqual(d.end(30), ['100/100 socket.accept "accept" 12 fd=20']);
});
