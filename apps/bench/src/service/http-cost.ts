import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { spawn } from "node:child_process";
import { Agent, request as httpRequest } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figure } from "../measuring/figures.ts";
import { cpuMs } from "../measuring/processes.ts";

/** Limits that are never reached, but still counted. */
export const unlimited = [
  "--rate-limit-per-key",
  "10000000",
  "--rate-limit-per-organization",
  "10000000",
  "--max-event-loop-delay-ms",
  "60000",
];

interface Target {
  readonly pid: number;
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

function send(target: Target, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(target.url, { agent, method: target.method, headers: target.headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${target.method} ${target.url}: ${String(response.statusCode)} ${text}`));
      });
    });
    request.on("error", reject);
    request.end(target.body);
  });
}

/** CPU of the serving process per request in microseconds, with sixteen parallel requests. */
export async function requestCost(target: Target, requests: number): Promise<number> {
  // New connections: the server has closed idle ones in the meantime.
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let left = requests;
  const before = cpuMs(target.pid);
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left-- > 0) await send(target, agent);
    }),
  );
  agent.destroy();
  return ((cpuMs(target.pid) - before) * 1000) / requests;
}

/** A bare node:http server in a separate process, which answers every request with the same bytes. */
async function startBare(body: string): Promise<{ pid: number; url: string; stop(): void }> {
  const script = `
    const body = process.argv[1];
    const server = require("node:http").createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        response.writeHead(200, { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(body) });
        response.end(body);
      });
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ["-e", script, body], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((resolve) =>
    child.stdout.setEncoding("utf8").once("data", (text: string) => {
      resolve(text.trim());
    }),
  );
  if (child.pid === undefined) throw new Error("The bare server did not start.");
  return { pid: child.pid, url: `http://127.0.0.1:${port}/`, stop: () => child.kill() };
}

/** Measures CPU per request of two operations against a bare node:http server that answers the same bytes. */
export async function measureHttpCost(requests: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn", ...unlimited]);
  const figures: Figure[] = [];
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const profile = await shoal.profiles.create({ name: "bench" });
    const key = await shoal.apiKeys.create({ name: "bench" });
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const targets = [
      {
        name: "GET /profiles/{id}, CPU a request",
        target: "<= 1.6",
        count: requests,
        method: "GET",
        url: `${service.baseUrl}/profiles/${profile.id}`,
        headers,
      },
      {
        name: "PATCH /org/api_keys/{id}, CPU a request",
        count: Math.ceil(requests / 10),
        method: "PATCH",
        url: `${service.baseUrl}/org/api_keys/${key.id}`,
        headers: { ...headers, "content-type": "application/json" },
        body: '{"name":"renamed"}',
      },
    ];
    for (const { name, target, count, ...operation } of targets) {
      const ours = { ...operation, pid: service.pid };
      const bare = await startBare(await send(ours, new Agent()));
      try {
        const peer = { ...operation, pid: bare.pid, url: bare.url };
        await requestCost(ours, count / 4);
        await requestCost(peer, count / 4);
        const samples = { ours: [] as number[], peer: [] as number[] };
        for (let round = 0; round < 5; round++) {
          samples.ours.push(await requestCost(ours, count));
          samples.peer.push(await requestCost(peer, count));
        }
        const median = (values: number[]) => values.sort((a, b) => a - b)[2] ?? Number.NaN;
        figures.push({
          name,
          unit: "µs",
          ours: median(samples.ours),
          peer: median(samples.peer),
          peerName: "bare node:http",
          ...(target !== undefined && { target }),
        });
      } finally {
        bare.stop();
      }
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}
