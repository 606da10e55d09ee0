import { createHash } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:https";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { WebSocketServer } from "ws";

/** Pages whose content is different at each request; `#done` appears when they are complete. */
export const recordedPages = [
  "static",
  "fetch",
  "repeated",
  "posts",
  "redirect",
  "cookies",
  "service-worker",
  "ranges",
  "audio",
  "events",
  "socket",
  "frame",
  "images",
  "modules",
  "worker",
  "form",
  "gzip",
  "cached",
  "upload",
  "missing",
] as const;

/** Requests an address with a time and a random number. */
const ask = (name: string): string =>
  `fetch("/nonce?${name}=" + Date.now() + "&random=" + Math.random()).then((found) => found.text())`;

const nonce = (): string => crypto.randomUUID();
const waveBytes = 300_000;

const scripts: Readonly<Record<string, string>> = {
  fetch: `show(await (await fetch("/nonce")).text());`,
  repeated: `for (let turn = 0; turn < 3; turn += 1) show(await (await fetch("/nonce?repeated")).text());`,
  posts: `for (const body of ["b", "a", "b"]) show(await (await fetch("/echo", { method: "POST", body })).text());`,
  cookies: `show(document.cookie); show(await (await fetch("/seen-cookies")).text());`,
  "service-worker": `
    await navigator.serviceWorker.register("/worker.js?service");
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) await new Promise((done) => (navigator.serviceWorker.oncontrollerchange = done));
    show(await (await fetch("/by-service-worker")).text());`,
  ranges: `
    for (const range of ["bytes=0-99", "bytes=1000-1999"]) {
      const answer = await fetch("/wave", { headers: { range } });
      show(answer.status + " " + answer.headers.get("content-range") + " " + (await answer.arrayBuffer()).byteLength);
    }`,
  audio: `
    const audio = new Audio("/wave?audio");
    await new Promise((done, failed) => { audio.onloadedmetadata = done; audio.onerror = () => failed(audio.error); });
    show("duration " + audio.duration);
    audio.currentTime = audio.duration - 1;
    await new Promise((done) => (audio.onseeked = done));
    show("seeked to " + audio.currentTime);`,
  events: `
    const source = new EventSource("/events");
    await new Promise((done) => (source.onmessage = ({ data }) => { show(data); if (data.startsWith("3")) { source.close(); done(); } }));`,
  socket: `
    const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket");
    const next = () => new Promise((done) => (socket.onmessage = ({ data }) => done(data)));
    show(await next());
    for (const word of ["one", "two"]) { const answer = next(); socket.send(word); show(await answer); }`,
  frame: `
    const frame = document.createElement("iframe");
    frame.src = "/page/static?frame";
    document.body.append(frame);
    await new Promise((done) => (frame.onload = done));
    show(frame.contentDocument.querySelector("h1").textContent);`,
  images: `
    const image = new Image();
    image.src = "/image.svg";
    await image.decode();
    document.body.append(image);
    show("image " + image.naturalWidth);`,
  modules: `show((await import("/module.js")).default);`,
  worker: `
    const worker = new Worker("/worker.js?dedicated");
    show(await new Promise((done) => (worker.onmessage = ({ data }) => done(data))));`,
  form: `
    if (location.search === "") {
      document.body.innerHTML = '<form method="post" action="/form"><input name="word" value="tea"></form>';
      document.forms[0].submit();
      await new Promise(() => undefined);
    }`,
  gzip: `show(await (await fetch("/gzip")).text());`,
  cached: `for (let turn = 0; turn < 2; turn += 1) show(await (await fetch("/cached")).text());`,
  upload: `
    const body = new FormData();
    body.append("file", new Blob(["content"]), "note.txt");
    show(await (await fetch("/echo?upload", { method: "POST", body })).text());`,
  clock: `
    show(await ${ask("page")});
    const worker = new Worker("/worker.js?clock");
    show(await new Promise((done) => (worker.onmessage = ({ data }) => done(data))));
    const next = () => new Promise((done) => addEventListener("message", ({ data }) => done(data), { once: true }));
    const framed = next();
    const frame = document.createElement("iframe");
    frame.src = "/page/clock-part?frame";
    document.body.append(frame);
    show(await framed);
    const opened = next();
    const popup = open("/page/clock-part?popup");
    show(await opened);
    popup.close();`,
  "clock-part": `(window.opener ?? window.parent).postMessage(await ${ask("part")});`,
  missing: `show(String((await fetch("/nothing")).status));`,
};

function page(name: string): string {
  return `<!doctype html><title>${name}</title><h1>${name} ${nonce()}</h1><main></main><script type="module">
    const show = (text) => { const line = document.createElement("p"); line.textContent = text; (document.querySelector("main") ?? document.body).append(line); };
    try { ${scripts[name] ?? ""} } catch (error) { show("failed: " + error); }
    const end = document.createElement("p"); end.id = "done"; end.textContent = "done"; document.body.append(end);
  </script>`;
}

function wave(): Buffer {
  const bytes = Buffer.alloc(44 + waveBytes);
  bytes.write("RIFF");
  bytes.writeUInt32LE(36 + waveBytes, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(8000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(waveBytes, 40);
  return bytes.fill(128, 44);
}

function sendRange({ headers }: IncomingMessage, response: ServerResponse): void {
  const whole = wave();
  const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  response.setHeader("content-type", "audio/wav").setHeader("accept-ranges", "bytes");
  if (start === undefined) {
    response.writeHead(200, { "content-length": whole.length }).end(whole);
    return;
  }
  const last = end === "" || end === undefined ? whole.length - 1 : Number(end);
  const part = whole.subarray(Number(start), last + 1);
  const range = `bytes ${start}-${String(last)}/${String(whole.length)}`;
  response.writeHead(206, { "content-range": range, "content-length": part.length }).end(part);
}

async function sendEvents(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const turn of [1, 2, 3]) {
    response.write(`data: ${String(turn)} ${nonce()}\n\n`);
    await new Promise((done) => setImmediate(done));
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
  const send = (content: string, type = "text/plain") => response.setHeader("content-type", type).end(content);
  const name = pathname.replace("/page/", "");
  if (name === "redirect") response.writeHead(302, { location: "/redirected" }).end();
  else if (pathname === "/redirected") response.writeHead(307, { location: "/page/static?redirected" }).end();
  else if (name !== pathname) {
    if (name === "cookies") response.setHeader("set-cookie", [`id=${nonce()}; Path=/`, "hidden=secret; HttpOnly"]);
    send(page(name), "text/html; charset=utf-8");
  } else if (pathname === "/nonce" || pathname === "/by-service-worker") send(nonce());
  else if (pathname === "/echo") send(`${nonce()} ${String((await text(request)).includes("content"))}`);
  else if (pathname === "/form") response.writeHead(303, { location: `/page/form?word=${nonce()}` }).end();
  else if (pathname === "/seen-cookies") send(request.headers.cookie ?? "");
  else if (pathname === "/wave") sendRange(request, response);
  else if (pathname === "/events") await sendEvents(response);
  else if (pathname === "/image.svg")
    send(`<svg xmlns="http://www.w3.org/2000/svg" width="37" height="11"/>`, "image/svg+xml");
  else if (pathname === "/module.js") send(`export default "${nonce()}";`, "text/javascript");
  else if (pathname === "/worker.js")
    send(
      searchParams.has("clock")
        ? `${ask("worker")}.then(postMessage);`
        : searchParams.has("service")
          ? `self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
           self.addEventListener("install", () => self.skipWaiting());
           self.addEventListener("fetch", (event) => {
             if (event.request.url.endsWith("/by-service-worker"))
               event.respondWith(fetch("/nonce?in-worker").then(async (found) => new Response("worker ${nonce()} " + await found.text())));
           });`
          : `fetch("/nonce?dedicated").then((found) => found.text()).then(postMessage);`,
      "text/javascript",
    );
  else if (pathname === "/gzip")
    response.setHeader("content-encoding", "gzip").end(gzipSync(`${nonce()} ${"tea ".repeat(2_000)}`));
  else if (pathname === "/cached") {
    const isKnown = request.headers["if-none-match"] !== undefined;
    response.setHeader("etag", '"1"').setHeader("cache-control", "no-cache");
    response.writeHead(isKnown ? 304 : 200).end(isKnown ? undefined : nonce());
  } else response.writeHead(404).end();
}

/** Adds the pages to a server. @returns the number of requests and WebSockets until now. */
export function serveRecordedPages(server: Server): () => number {
  let requests = 0;
  const sockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } });
  sockets.on("connection", (socket) => {
    requests += 1;
    socket.send(`welcome ${nonce()}`);
    socket.on("message", (word: Buffer) => {
      const digest = createHash("sha256").update(word).update(nonce()).digest("hex");
      socket.send(`${word.toString()} ${digest}`);
    });
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    answer(request, response).catch(() => response.destroy());
  });
  return () => requests;
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await once(server.close(), "close");
}
