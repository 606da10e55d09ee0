import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { request as secureRequest } from "node:https";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../packages/testkit/src/index.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "shoal-proxies-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function missing(program: string): string | undefined {
  if (spawnSync(program, ["-h"]).error === undefined) return undefined;
  if (process.env.SHOAL_REQUIRE_ALL === "1") throw new Error(`SHOAL_REQUIRE_ALL is set, but ${program} is missing.`);
  return `${program} is missing`;
}

/** An address of this machine whose ports other programs do not take before nginx does. */
const host = process.platform === "linux" ? `127.${[0, 0, 0].map(() => randomInt(1, 255)).join(".")}` : "127.0.0.1";
async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const withoutNginx = missing("nginx");
describe.skipIf(withoutNginx)(
  `docs/service/nginx.conf${withoutNginx === undefined ? "" : ` (skipped: ${withoutNginx})`}`,
  () => {
    it("loads as it is, with TLS, and passes addresses and WebSockets on", async () => {
      const upstream = createServer((incoming, response) => {
        response.end(JSON.stringify({ url: incoming.url, headers: incoming.headers }));
      });
      upstream.on("upgrade", (incoming, socket) => {
        socket.end(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Host: ${String(incoming.headers["x-forwarded-host"])}\r\n\r\n`,
        );
      });
      upstream.listen(0, "127.0.0.1");
      await once(upstream, "listening");
      const [secure, plain] = [await freePort(), await freePort()];
      const site = readFileSync(join(root, "docs/service/nginx.conf"), "utf8")
        .replace(/^\s*listen \[::\].*$/gm, "")
        .replace("listen 443", `listen ${host}:${String(secure)}`)
        .replace("listen 80", `listen ${host}:${String(plain)}`)
        .replace("127.0.0.1:7777", `127.0.0.1:${String((upstream.address() as AddressInfo).port)}`)
        .replace(/\S+fullchain\.pem/, join(root, "tools/certificates/localhost.pem"))
        .replace(/\S+privkey\.pem/, join(root, "tools/certificates/localhost.key"));
      writeFileSync(join(folder, "site.conf"), site);
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${temporary.join(" ")} include ${folder}/site.conf; }`,
      );
      const args = ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")];
      const checked = spawnSync("nginx", [...args, "-t"], { encoding: "utf8" });
      expect([checked.status, checked.stderr]).toEqual([0, expect.not.stringMatching(/warn|emerg/)]);
      const nginx = spawn("nginx", args, { stdio: "ignore" });
      try {
        const target = { host, port: secure, rejectUnauthorized: false };
        let answer: { url: string; headers: Record<string, string> } | undefined;
        await eventually("nginx answers", async () => {
          answer = await textOf(
            secureRequest({ ...target, path: "/browsers?limit=1", headers: { host: "shoal.example" } }),
          ).then(
            (text) => JSON.parse(text) as typeof answer,
            () => undefined,
          );
          return answer !== undefined;
        });
        expect(answer).toMatchObject({
          url: "/browsers?limit=1",
          headers: {
            "x-forwarded-proto": "https",
            "x-forwarded-host": "shoal.example",
            "x-forwarded-for": "127.0.0.1",
          },
        });
        const socket = secureRequest({
          ...target,
          headers: { host: "shoal.example", connection: "Upgrade", upgrade: "websocket" },
        });
        socket.end();
        const [upgraded] = (await once(socket, "upgrade")) as [{ headers: Record<string, string> }];
        expect(upgraded.headers["x-host"]).toBe("shoal.example");
        const redirect = request({
          host,
          port: plain,
          path: "/console/",
          headers: { host: "shoal.example" },
        });
        redirect.end();
        const [moved] = (await once(redirect, "response")) as [{ statusCode: number; headers: Record<string, string> }];
        expect([moved.statusCode, moved.headers.location]).toEqual([301, "https://shoal.example/console/"]);
      } finally {
        nginx.kill();
        await once(nginx, "close");
        upstream.closeAllConnections();
        upstream.close();
      }
    });
  },
);

const withoutCaddy = missing("caddy");
it.skipIf(withoutCaddy)(
  `docs/service/Caddyfile is valid and formatted${withoutCaddy === undefined ? "" : ` (skipped: ${withoutCaddy})`}`,
  () => {
    const file = join(root, "docs/service/Caddyfile");
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const adapted = execFileSync("caddy", ["adapt", "--validate", "--config", file, "--adapter", "caddyfile"], {
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(adapted).toContain('"host":["shoal.example"]');
    expect(execFileSync("caddy", ["fmt", file], { encoding: "utf8", env })).toBe(readFileSync(file, "utf8"));
  },
);

async function textOf(sent: ReturnType<typeof request>): Promise<string> {
  sent.end();
  const [response] = (await once(sent, "response")) as [AsyncIterable<Buffer>];
  let text = "";
  for await (const part of response) text += part.toString();
  return text;
}
