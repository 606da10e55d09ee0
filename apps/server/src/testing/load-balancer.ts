import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface LoadBalancer extends AsyncDisposable {
  readonly url: string;
}

/** Not reserved, but outside the range of the system's own choices. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(12_000, 30_000);
    const listener = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      listener.once("error", () => {
        resolve(false);
      });
      listener.listen(port, "127.0.0.1", () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    ports.add(port);
    await new Promise((resolve) => listener.close(resolve));
  }
  return [...ports];
}

/** Starts HAProxy: round robin over HTTP, to the servers whose `/ready` answers 200. */
export async function startLoadBalancer(port: number, targets: readonly number[]): Promise<LoadBalancer> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-haproxy-"));
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configFor(port, targets));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  await once(child, "spawn");
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${String(port)}`;
  const balancer = {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  while (!(await answers(url))) {
    if (child.exitCode !== null) {
      await balancer[Symbol.asyncDispose]();
      throw new Error(`HAProxy ended with status ${String(child.exitCode)}.`);
    }
    const retryMs = 50;
    await delay(retryMs);
  }
  return balancer;
}

function configFor(port: number, targets: readonly number[]): string {
  const lines = targets.map(
    (target) => `  server s${String(target)} 127.0.0.1:${String(target)} check inter 200ms fall 2 rise 1`,
  );
  return `defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout check 10s
  retries 3
  option redispatch
  retry-on conn-failure empty-response
frontend shoal
  bind 127.0.0.1:${String(port)}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /ready
${lines.join("\n")}
`;
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}
