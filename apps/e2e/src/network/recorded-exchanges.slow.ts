import { eventually } from "@shoal/testkit";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, zstdCompressSync } from "node:zlib";
import { WebSocketServer } from "ws";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runService } from "../testing/service.ts";

const nonce = () => crypto.randomUUID();
let requests = 0;
const scripts: Record<string, string> = {
  preflight: `show(await (await fetch(other + "/cors", { method: "PUT", headers: { "x-a": "1", "content-type": "application/json" }, body: "{}", credentials: "include" })).text());`,
  methods: `for (const method of ["HEAD", "PUT", "DELETE", "PATCH"]) { const a = await fetch("/method", { method }); show(method + a.status + a.headers.get("x-nonce") + await a.text()); }`,
  codings: `for (const c of ["br", "deflate", "zstd"]) show(await (await fetch("/coding?" + c)).text().then((t) => t.slice(0, 40)));`,
  auth: `show(await (await fetch("/auth", { headers: { authorization: "Basic YTpi" } })).text());`,
  wsbinary: `const s = new WebSocket(location.origin.replace("http", "ws") + "/ws?binary", ["v2", "v1"]); s.binaryType = "arraybuffer";
     await new Promise((d) => (s.onopen = d)); show(s.protocol);
     s.send(new Uint8Array([1,2,3])); const m = await new Promise((d) => (s.onmessage = ({data}) => d(data))); show([...new Uint8Array(m)].join());
     const c = new Promise((d) => (s.onclose = d)); s.send("close"); const e = await c; show("closed " + e.code + e.reason + e.wasClean);`,
  wstwo: `const open = () => new Promise((d) => { const s = new WebSocket(location.origin.replace("http", "ws") + "/ws"); const got = []; s.onmessage = ({data}) => { got.push(data); if (got.length === 3) { s.close(); d(got.join(" ")); } }; });
     show(await open()); show(await open());`,
  wsrefused: `const s = new WebSocket(location.origin.replace("http", "ws") + "/refused"); const e = await new Promise((d) => (s.onclose = d)); show("refused " + e.code);`,
  sse: `const s = new EventSource("/sse"); const got = []; await new Promise((d) => (s.onmessage = ({data}) => { got.push(data); if (got.length === 4) { s.close(); d(); } })); show(got.join(" "));`,
  beacon: `navigator.sendBeacon("/beacon", "hello"); show(await (await fetch("/nonce?beacon")).text());`,
  abort: `const c = new AbortController(); const a = await fetch("/endless", { signal: c.signal }); const r = a.body.getReader(); show(new TextDecoder().decode((await r.read()).value)); c.abort(); show(await (await fetch("/nonce?abort")).text());`,
  closed: `show(await (await fetch("/until-close")).text());`,
  broken: `show(await fetch("/broken").then((a) => a.text()).then((t) => "whole " + t, (e) => "broken " + e.name));`,
  reset: `show(await fetch("/reset").then((a) => a.text(), (e) => "reset " + e.name));`,
  parallel: `show((await Promise.all(Array.from({ length: 12 }, (_, n) => fetch("/nonce?n=" + n).then((a) => a.text())))).join(" "));`,
  sharedworker: `const w = new SharedWorker("/shared.js"); show(await new Promise((d) => (w.port.onmessage = ({data}) => d(data))));`,
  cookies: `await fetch("/setcookie"); show(document.cookie); show(await (await fetch("/seen")).text());`,
  redirectcookie: `const a = await fetch("/redir1"); show(a.url + a.redirected + await a.text()); show(document.cookie);`,
  css: `const l = document.createElement("link"); l.rel = "stylesheet"; l.href = "/a.css"; document.head.append(l); await new Promise((d) => (l.onload = d)); show(getComputedStyle(document.body).color);`,
  xhr: `show(await new Promise((d) => { const x = new XMLHttpRequest(); x.open("POST", "/echo"); x.onload = () => d(x.responseText); x.send("body=1"); }));`,
  binarypost: `show(await (await fetch("/echo", { method: "POST", body: new Uint8Array([0, 255, 10, 13]) })).text());`,
  bigpost: `show((await (await fetch("/echo", { method: "POST", body: "x".repeat(3000000) })).text()));`,
  fragments: `show(await (await fetch("/nonce#part")).text()); show(await (await fetch("/nonce?ü=ä&b=%20")).text());`,
  vary: `for (const lang of ["de", "fr"]) show(await (await fetch("/vary", { headers: { "accept-language": lang } })).text());`,
  multiform: `const f = new FormData(); f.append("a", new Blob(["one"]), "a.txt"); f.append("b", "two"); for (let i = 0; i < 2; i++) show(await (await fetch("/echo", { method: "POST", body: f })).text());`,
  early: `show(await (await fetch("/early")).text());`,
  status: `for (const s of [201, 204, 410, 500]) { const a = await fetch("/status?" + s); show(s + a.statusText + await a.text()); }`,
  etag: `for (let i = 0; i < 3; i++) show(await (await fetch("/etag")).text()); show(await (await fetch("/etag", { cache: "reload" })).text());`,
};
function page(name: string): string {
  return `<!doctype html><title>${name}</title><h1>${name} ${nonce()}</h1><main></main><script type="module">
    const other = location.origin.replace("localhost", "127.0.0.1");
    const show = (text) => { const line = document.createElement("p"); line.textContent = text; document.querySelector("main").append(line); };
    try { ${scripts[name] ?? ""} } catch (error) { show("failed: " + error); }
    const end = document.createElement("p"); end.id = "done"; end.textContent = "done"; document.body.append(end);
  </script>`;
}
let sseConnections = 0;
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "/", "http://site");
  const send = (content: string | Buffer, type = "text/plain") => response.setHeader("content-type", type).end(content);
  if (pathname.startsWith("/page/")) return void send(page(pathname.slice(6)), "text/html");
  switch (pathname) {
    case "/cors":
      response
        .setHeader("access-control-allow-origin", request.headers.origin ?? "*")
        .setHeader("access-control-allow-credentials", "true")
        .setHeader("access-control-allow-headers", "x-a, content-type")
        .setHeader("access-control-allow-methods", "PUT");
      if (request.method === "OPTIONS") return void response.writeHead(204).end();
      return void send(nonce());
    case "/method":
      return void response.setHeader("x-nonce", nonce()).setHeader("content-length", 0).end();
    case "/coding": {
      const body = Buffer.from(`${nonce()} ${"tea ".repeat(500)}`);
      const coding = search.slice(1);
      response.setHeader("content-encoding", coding);
      return void send(
        coding === "br" ? brotliCompressSync(body) : coding === "deflate" ? deflateSync(body) : zstdCompressSync(body),
      );
    }
    case "/auth":
      return void send(`${request.headers.authorization ?? "none"} ${nonce()}`);
    case "/sse":
      sseConnections += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        `retry: 50\nid: ${String(sseConnections)}\ndata: ${String(request.headers["last-event-id"] ?? "none")} ${nonce()}\n\n`,
      );
      response.end(`data: ${nonce()}\n\n`);
      return;
    case "/beacon":
    case "/nonce":
      return void send(nonce());
    case "/endless":
      response.writeHead(200, { "content-type": "text/plain" });
      response.write(`begin ${nonce()}`);
      return;
    case "/until-close":
      request.socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nclosed ${nonce()}`);
      return;
    case "/broken":
      response.writeHead(200, { "content-length": 100 });
      response.write("part", () => request.socket.destroy());
      return;
    case "/reset":
      request.socket.destroy();
      return;
    case "/shared.js":
      return void send(
        `onconnect = async ({ ports: [p] }) => p.postMessage(await (await fetch("/nonce?shared")).text());`,
        "text/javascript",
      );
    default:
      return answerMore(request, response);
  }
}

async function answerMore(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "/", "http://site");
  const send = (content: string, type = "text/plain") => response.setHeader("content-type", type).end(content);
  switch (pathname) {
    case "/setcookie":
      response.setHeader("set-cookie", [
        `a=${nonce()}; Max-Age=1000`,
        `b=2; Expires=${new Date(Date.now() + 600_000).toUTCString()}; SameSite=Lax`,
      ]);
      return void send("");
    case "/seen":
      return void send(request.headers.cookie ?? "none");
    case "/redir1":
      response.writeHead(302, { location: "/redir2", "set-cookie": `r1=${nonce()}` }).end();
      return;
    case "/redir2":
      response.writeHead(307, { location: `/redir3?${nonce()}`, "set-cookie": `r2=2` }).end();
      return;
    case "/redir3":
      return void send(request.headers.cookie ?? "none");
    case "/a.css":
      return void send(`@import "/b.css"; p { color: red }`, "text/css");
    case "/b.css":
      return void send(`body { color: rgb(1, 2, ${String(Math.floor(Math.random() * 250))}) }`, "text/css");
    case "/echo": {
      const body = await text(request);
      return void send(`${String(body.length)} ${nonce()}`);
    }
    case "/vary":
      response.setHeader("vary", "accept-language");
      return void send(`${request.headers["accept-language"]} ${nonce()}`);
    case "/early":
      response.writeEarlyHints({ link: "</a.css>; rel=preload; as=style" });
      return void send(nonce());
    case "/status":
      response.statusCode = Number(search.slice(1));
      response.statusMessage = "Odd words";
      return void (response.statusCode === 204 ? response.end() : send(nonce()));
    case "/etag": {
      const known = request.headers["if-none-match"] !== undefined;
      response.setHeader("etag", '"x"').setHeader("cache-control", "max-age=0, must-revalidate");
      return void response.writeHead(known ? 304 : 200).end(known ? undefined : nonce());
    }
    default:
      response.writeHead(404).end();
  }
}
let url: string;
let test: Awaited<ReturnType<typeof runService>>;
const site = createServer((request, response) => {
  requests += 1;
  answer(request, response).catch(() => response.destroy());
});
beforeAll(async () => {
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => (protocols.has("v1") ? "v1" : false),
    perMessageDeflate: { threshold: 0 },
  });
  site.on("upgrade", (request, socket, head) => {
    requests += 1;
    if (request.url === "/refused") return socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (ws) => {
      if (request.url === "/ws") {
        for (let i = 0; i < 3; i++)
          setTimeout(() => {
            ws.send(`${String(i)} ${nonce()}`);
          }, i * 40);
        return;
      }
      ws.on("message", (data: Buffer, isBinary) => {
        if (!isBinary && data.toString() === "close") ws.close(4001, "why");
        else ws.send(Buffer.from([...data, Math.floor(Math.random() * 255)]));
      });
    });
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  url = `http://localhost:${String((site.address() as AddressInfo).port)}`;
  test = await runService(["--allow-private-hosts", "127.0.0.1", "--allow-private-hosts", "localhost"]);
});
afterAll(async () => {
  await test.end();
  site.closeAllConnections();
  site.close();
});

async function visit(id: string, name: string): Promise<string> {
  const { error } = await test.shoal.browsers.playwright.execute(id, {
    code: `await page.goto("${url}/page/${name}"); await page.waitForSelector("#done");`,
  });
  expect(error, name).toBeUndefined();
  return (await test.shoal.browsers.observe(id)).outline;
}

it("replays other kinds of requests, answers and connections over http twice with the same outlines", async () => {
  const { browsers, networkRecordings } = test.shoal;
  const made = await browsers.create({ timeout_seconds: 600, recording: { network: true } });
  const original: Record<string, string> = {};
  for (const name of Object.keys(scripts)) original[name] = await visit(made.session_id, name);
  await browsers.delete(made.session_id);
  expect(JSON.stringify(original)).not.toContain("failed:");
  const recording = made.network_recording_id ?? "";
  await eventually("it is stored", async () => (await networkRecordings.get(recording)).status === "complete");
  expect(await networkRecordings.get(recording)).toMatchObject({ left_out: 0, truncated: false });
  const before = requests;
  for (const turn of [1, 2]) {
    const replay = await browsers.create({ timeout_seconds: 600, replay: { recording } });
    for (const name of Object.keys(scripts))
      expect(await visit(replay.session_id, name), `${name} in replay ${String(turn)}`).toBe(original[name]);
    await browsers.delete(replay.session_id);
  }
  expect(requests).toBe(before);
});
