import type { Socket } from "node:net";

const head = (...lines: readonly string[]) => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n");
const json = head("Content-Type: application/json", "Connection: close");

/** Writes `part` again and again until the other side closes the connection. */
function endless(socket: Socket, part: string): void {
  const bytes = Buffer.from(part.repeat(Math.ceil(65_536 / part.length)));
  const write = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", write);
  write();
}

function sending(start: string, part: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(start);
    endless(socket, part);
  };
}

/** Answers of compromised instances that never end, or cost far more to read than to send. */
export const endlessAnswers: Readonly<Record<string, (socket: Socket) => void>> = {
  "one huge string": sending(`${json}{"x":"`, "a"),
  "one huge string of escapes": sending(`${json}{"x":"`, "\\u0041"),
  "ever more empty objects": sending(`${json}[{}`, ",{}"),
  "ever deeper arrays": sending(`${json}[`, "["),
  "ever more fields": sending(`${json}{"a":1`, ',"a":1'),
  "endless spaces": sending(json, " "),
  "JSON with the type of a page": sending(head("Content-Type: text/html", "Connection: close") + "[{}", ",{}"),
  "an error without an end": sending(
    'HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"message":"',
    "a",
  ),
  "endless headers": sending("HTTP/1.1 200 OK\r\n", "X-A: b\r\n"),
};

const complete = (body: Buffer, type = "application/json", length = body.length) =>
  Buffer.concat([Buffer.from(head(`Content-Type: ${type}`, `Content-Length: ${String(length)}`)), body]);

/** Answers that end, and do not fit any operation. */
export const brokenAnswers: Readonly<Record<string, (socket: Socket) => void>> = {
  "bytes that are not UTF-8": (socket) => socket.write(complete(Buffer.from('{"x":"\xff\xfe"}', "latin1"))),
  "less than its length says": (socket) => socket.end(complete(Buffer.from("[1,"), "application/json", 100)),
  "another kind of value": (socket) => socket.write(complete(Buffer.from('"text"'))),
  "half a value": (socket) => socket.write(complete(Buffer.from('{"x":'))),
  nothing: (socket) => socket.write(complete(Buffer.alloc(0))),
};

/** A byte every few milliseconds, without an end. */
export function dripping(socket: Socket): void {
  socket.write(`${json}{"x":"`);
  const timer = setInterval(() => socket.write("a"), 5);
  socket.on("close", () => {
    clearInterval(timer);
  });
}
