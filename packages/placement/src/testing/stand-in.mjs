// Replaces the instance program: serves the control channel, runs shell commands of tests, and misbehaves as the file `behaviour` next to it specifies.
import { execFile } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";

const behaviour = readFileSync(new URL("behaviour", import.meta.url), "utf8");
if (process.argv[2] === "--fill-cache") process.exit(0);
const config = JSON.parse(process.env.SHOAL_INSTANCE);

function isFirst() {
  try {
    appendFileSync(new URL("asked", import.meta.url), "", { flag: "ax" });
    return true;
  } catch {
    return false;
  }
}

const readers = new Set();
const send = (event) => {
  for (const reader of readers) reader.write(`${JSON.stringify(event)}\n`);
};

let sent = 0;
const chunk = Buffer.alloc(1024 * 1024);
function* endless() {
  for (sent = 0; ; sent += chunk.length) yield chunk;
}

const server = createServer(async (request, response) => {
  if (request.url === "/endless") {
    Readable.from(endless(), { highWaterMark: 1 })
      .on("error", () => undefined)
      .pipe(response);
    return;
  }
  if (request.url === "/sent") {
    response.end(String(sent));
    return;
  }
  if (request.url === "/unread") {
    return;
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  switch (request.url) {
    case "/_instance/events":
      response.writeHead(200);
      readers.add(response);
      send({
        type: "state",
        browser: behaviour === "never ready" ? "starting" : "ready",
        idle_since_ms: null,
        browser_restarts: 0,
      });
      return;
    case "/_instance/assign":
      // A rehearsal.
      if (body === "") response.end();
      else if (behaviour === "refuses" || (behaviour === "refuses once" && isFirst()))
        response.writeHead(409).end('{"code":"conflict"}');
      else if (behaviour === "breaks off once" && isFirst())
        response.writeHead(200, { "content-length": "10" }).write("{}", () => response.destroy());
      else response.end("{}");
      return;
    case "/run":
      execFile("/bin/sh", ["-c", body], { maxBuffer: 10_000_000 }, (error, stdout, stderr) =>
        response.end(JSON.stringify({ code: error?.code ?? 0, stdout, stderr })),
      );
      return;
    case "/event":
      for (const reader of readers) reader.write(body);
      response.end();
      return;
    case "/exit":
      send(JSON.parse(body));
      response.end(() => process.exit(0));
      return;
    default:
      response.writeHead(404).end();
  }
});

process.stdin.on("end", () => process.exit(0)).resume();
process.stderr.write("the stand-in starts\n");
if (behaviour === "leaves traces") appendFileSync(`${config.session_dir}/trace`, "x");
if (behaviour === "exits") {
  process.stderr.write(`${"x".repeat(10_000)}\nlibwhatever.so is missing\n`);
  process.exitCode = 3;
  process.exit();
}
if (behaviour !== "silent")
  server.listen({ path: config.listen_path, writableAll: config.listen_for_all === true }, () =>
    process.stdout.write('{"listening":true}\n'),
  );
